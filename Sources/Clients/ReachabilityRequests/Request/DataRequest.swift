public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// A request whose answer is kept in memory. It is sent by its first handler, or soon after its creation
/// (``Session/startRequestsImmediately``).
///
/// A validation that is added after the answer has come is applied when the answer is next delivered.
public class DataRequest: Request, @unchecked Sendable {  // Unchecked because its superclass is.
    /// The value that created the request.
    public var convertible: any URLRequestConvertible { source }
}

/// A request with a body of its own: bytes, a file, a stream or a form. Files and streams are read while they are sent.
public final class UploadRequest: DataRequest, @unchecked Sendable {  // Unchecked because its superclass is.
    /// The source of a body.
    public enum Uploadable: Sendable {
        /// Bytes in memory.
        case data(Data)
        /// A file, which is removed after the upload if `shouldRemove` is true.
        case file(URL, shouldRemove: Bool)
        /// Bytes of a stream.
        case stream(InputStream)
    }

    /// The value that created the request and its body.
    public let upload: any UploadConvertible
    /// The body, or the reason why it could not be created; nil before a long form is written to its file.
    let creation: Locked<Result<Uploadable, AFError>?>

    init(_ upload: any UploadConvertible, in session: Session, _ interceptor: (any RequestInterceptor)?) {
        self.upload = upload
        // It takes long to write the file, so the caller does not wait for it.
        creation = Locked((upload as? FormUpload)?.isLong == true ? nil : upload.creation())
        super.init(upload, in: session, interceptor)
        if let length = try? uploadable?.body().length { change(.upload) { $0.totalUnitCount = length } }
    }

    /// The body; nil if it could not be created, and until a long form is sent.
    public var uploadable: Uploadable? { try? creation.withLock { $0 }?.get() }

    override func run(_ request: URLRequest) async -> Answer {
        let created = creation.withLock { $0 } ?? createFile()
        switch created {
        case .success(let uploadable): return await session.send(request, of: self, with: uploadable)
        case .failure(let error): return Answer(error: error)
        }
    }

    private func createFile() -> Result<Uploadable, AFError> {
        let created = upload.creation()
        creation.withLock { $0 = created }
        didCreate(created)
        return created
    }

    override func didEnd() {
        super.didEnd()
        if case .file(let url, shouldRemove: true)? = uploadable { OwnFile.remove(url.path) }
    }
}

extension UploadRequest.Uploadable {
    /// Returns the body. The size of a file is its current size.
    func body() throws(AFError) -> InputStream {
        switch self {
        case .data(let data): InputStream(data: data)
        case .file(let url, _): InputStream(pieces: [.file(url.path, length: try FilePart.length(of: url.path))])
        case .stream(let stream): stream
        }
    }
}

/// A type that has the body of an upload.
public protocol UploadableConvertible: Sendable {
    /// Returns the body.
    func createUploadable() throws -> UploadRequest.Uploadable
}

extension UploadRequest.Uploadable: UploadableConvertible {
    /// Returns the body itself.
    public func createUploadable() throws -> UploadRequest.Uploadable { self }
}

extension Data: UploadableConvertible {
    /// Returns the bytes as the body.
    public func createUploadable() throws -> UploadRequest.Uploadable { .data(self) }
}

extension URL: UploadableConvertible {
    /// Returns the file as the body.
    public func createUploadable() throws -> UploadRequest.Uploadable { .file(self, shouldRemove: false) }
}

extension InputStream: UploadableConvertible {
    /// Returns the stream as the body.
    public func createUploadable() throws -> UploadRequest.Uploadable { .stream(self) }
}

/// A type that has a request and the body of an upload.
public protocol UploadConvertible: UploadableConvertible, URLRequestConvertible {}

extension UploadConvertible {
    /// Returns the body, or the reason why it could not be created.
    fileprivate func creation() -> Result<UploadRequest.Uploadable, AFError> {
        Result { try createUploadable() }.mapError { $0.asAFError(or: .createUploadableFailed(error: $0)) }
    }
}

extension DataRequest {
    /// The body of the answer, or nil. Nil before the end.
    public var data: Data? { exchange.result?.data }
}
