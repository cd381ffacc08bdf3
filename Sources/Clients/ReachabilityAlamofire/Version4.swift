public import Dispatch
public import FoundationEssentials
import LinuxSupport
public import ReachabilityRequests

// Names that only Alamofire 4 has.

/// The session of Alamofire 4.
public typealias SessionManager = Session
/// The response of a request without a serializer.
public typealias DefaultDataResponse = AFDataResponse<Data?>
/// The response of a download without a serializer.
public typealias DefaultDownloadResponse = AFDownloadResponse<URL?>

extension Session {
    /// The header fields that each request has by default.
    public static var defaultHTTPHeaders: [String: String] { HTTPHeaders.default.dictionary }

    /// The default of `usingThreshold`: 10,000,000 bytes.
    public static let multipartFormDataEncodingMemoryThreshold: UInt64 = 10_000_000

    /// An adapter that is set later, for the attempts from then on. It is called after the interceptor of the initializer.
    public var adapter: (any RequestAdapter)? {
        get { laterInterceptor.withLock { $0?.adapters.first } }
        set { setLater([newValue].compactMap { $0 }, nil) }
    }

    /// A retrier that is set later, for the failures from then on. It is called after the interceptor of the initializer.
    public var retrier: (any RequestRetrier)? {
        get { laterInterceptor.withLock { $0?.retriers.first } }
        set { setLater(nil, [newValue].compactMap { $0 }) }
    }

    private func setLater(_ adapters: [any RequestAdapter]?, _ retriers: [any RequestRetrier]?) {
        laterInterceptor.withLock { later in
            let (adapters, retriers) = (adapters ?? later?.adapters ?? [], retriers ?? later?.retriers ?? [])
            later = adapters.isEmpty && retriers.isEmpty ? nil : Interceptor(adapters: adapters, retriers: retriers)
        }
    }

    /// Creates a request with parameters and header fields of Alamofire 4.
    @_disfavoredOverload
    @discardableResult
    public func request(
        _ url: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: [String: Any]? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: (any HTTPHeadersConvertible)? = nil
    ) -> DataRequest {
        let parameters = parameters.map(Parameters.init(untyped:))
        return request(url, method: method, parameters: parameters, encoding: encoding, headers: headers?.httpHeaders)
    }

    /// Creates a download with parameters and header fields of Alamofire 4.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ url: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: [String: Any]? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: (any HTTPHeadersConvertible)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            url,
            method: method,
            parameters: parameters.map(Parameters.init(untyped:)),
            encoding: encoding,
            headers: headers?.httpHeaders,
            to: destination
        )
    }

    /// Creates an upload with header fields of Alamofire 4.
    @_disfavoredOverload
    @discardableResult
    public func upload(
        _ body: some UploadableConvertible,
        to url: any URLConvertible,
        method: HTTPMethod = .post,
        headers: (any HTTPHeadersConvertible)?
    ) -> UploadRequest {
        upload(body, to: url, method: method, headers: headers?.httpHeaders)
    }
}

extension Session {
    /// The result of the creation of a form's upload.
    public enum MultipartFormDataEncodingResult: Sendable {
        /// The upload. The file of a long form is written when the request is sent, so its URL is nil.
        case success(request: UploadRequest, streamingFromDisk: Bool, streamFileURL: URL?)
        /// The form cannot be encoded.
        case failure(any Error)
    }

    /// Creates an upload of a form that a closure fills. The completion receives the upload, or the error of the form.
    public func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        usingThreshold encodingMemoryThreshold: UInt64 = multipartFormDataEncodingMemoryThreshold,
        to url: any URLConvertible,
        method: HTTPMethod = .post,
        headers: (any HTTPHeadersConvertible)? = nil,
        queue: DispatchQueue? = nil,
        encodingCompletion: (@Sendable (MultipartFormDataEncodingResult) -> Void)?
    ) {
        let headers = headers?.httpHeaders
        encode(multipartFormData, queue, encodingCompletion) {
            upload(
                multipartFormData: $0,
                to: url,
                usingThreshold: encodingMemoryThreshold,
                method: method,
                headers: headers
            )
        }
    }

    /// Creates an upload of a form that a closure fills. The completion receives the upload, or the error of the form.
    public func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        usingThreshold encodingMemoryThreshold: UInt64 = multipartFormDataEncodingMemoryThreshold,
        with urlRequest: any URLRequestConvertible,
        queue: DispatchQueue? = nil,
        encodingCompletion: (@Sendable (MultipartFormDataEncodingResult) -> Void)?
    ) {
        encode(multipartFormData, queue, encodingCompletion) {
            upload(multipartFormData: $0, with: urlRequest, usingThreshold: encodingMemoryThreshold)
        }
    }

    private func encode(
        _ fill: (MultipartFormData) throws -> Void,
        _ queue: DispatchQueue?,
        _ completion: (@Sendable (MultipartFormDataEncodingResult) -> Void)?,
        _ upload: (MultipartFormData) -> UploadRequest
    ) {
        let result: MultipartFormDataEncodingResult
        do {
            let form = MultipartFormData()
            try fill(form)
            let request = upload(form)
            result = .success(request: request, streamingFromDisk: request.uploadable == nil, streamFileURL: nil)
        } catch {
            result = .failure(error)
        }
        if let completion { (queue ?? DispatchQueue.main).async { completion(result) } }
    }
}

extension DownloadRequest {
    /// Chooses the place of the complete file.
    public typealias DownloadFileDestination = Destination
    /// The steps before the file is moved to its place.
    public typealias DownloadOptions = Options
}

extension DownloadRequest {
    /// Validates the answer and the complete file with a closure, which receives the path twice. A file that is rejected is deleted.
    @discardableResult
    public func validate(
        _ validation:
            @escaping @Sendable (
                _ request: URLRequest?, _ response: HTTPURLResponse, _ temporaryURL: URL?, _ destinationURL: URL?
            ) -> ValidationResult
    ) -> Self {
        validate { request, response, fileURL in validation(request, response, fileURL, fileURL) }
    }
}

extension Request {
    /// The progress of the body that is received.
    public var progress: Progress { downloadProgress }

    /// Authenticates at servers that require it (401), see `authenticate(username:password:persistence:)`.
    @discardableResult
    public func authenticate(
        user: String,
        password: String,
        persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(username: user, password: password, persistence: persistence)
    }

    /// Authenticates at servers that require it (401), see `authenticate(with:)`.
    @discardableResult
    public func authenticate(usingCredential credential: URLCredential) -> Self { authenticate(with: credential) }

    /// Returns the header field of Basic authentication (RFC 7617).
    public static func authorizationHeader(user: String, password: String) -> (key: String, value: String)? {
        let header = HTTPHeader.authorization(username: user, password: password)
        return (header.name, header.value)
    }
}

extension DataResponse {
    /// The file of a download, or nil.
    public var destinationURL: URL? { fileURL }
    /// The file of a download, or nil.
    public var temporaryURL: URL? { fileURL }

    /// Returns the response with another value, or with the error of the closure.
    public func flatMap<New>(_ transform: (Success) throws -> New) -> DataResponse<New, any Error> {
        tryMap(transform)
    }

    /// Returns the response with another error, or with the error that the closure threw.
    public func flatMapError<New: Error>(_ transform: (Failure) throws -> New) -> DataResponse<Success, any Error> {
        tryMapError(transform)
    }
}

extension Result {
    /// A Boolean value that indicates whether there is a value.
    public var isSuccess: Bool { if case .success = self { true } else { false } }
    /// A Boolean value that indicates whether there is an error.
    public var isFailure: Bool { !isSuccess }
    /// The value, or nil.
    public var value: Success? { try? get() }
    /// The error; nil if there is a value.
    public var error: Failure? { if case .failure(let error) = self { error } else { nil } }

    /// Returns the value, or throws the error.
    public func unwrap() throws(Failure) -> Success { try get() }

    /// Calls the closure if there is a value.
    @discardableResult
    public func ifSuccess(_ closure: () throws -> Void) rethrows -> Result {
        if isSuccess { try closure() }
        return self
    }

    /// Calls the closure if there is an error.
    @discardableResult
    public func ifFailure(_ closure: () throws -> Void) rethrows -> Result {
        if isFailure { try closure() }
        return self
    }

    /// Calls the closure with the value, if there is one.
    @discardableResult
    public func withValue(_ closure: (Success) throws -> Void) rethrows -> Result {
        if let value { try closure(value) }
        return self
    }

    /// Calls the closure with the error, if there is one.
    @discardableResult
    public func withError(_ closure: (Failure) throws -> Void) rethrows -> Result {
        if let error { try closure(error) }
        return self
    }
}

extension Result where Success == Void {
    /// A success, for example of a validation.
    public static var success: Result { .success(()) }
}

/// Header fields: `HTTPHeaders`, or the dictionary of Alamofire 4.
public protocol HTTPHeadersConvertible {
    /// The header fields.
    var httpHeaders: HTTPHeaders { get }
}

extension HTTPHeaders: HTTPHeadersConvertible {
    /// The header fields themselves.
    public var httpHeaders: HTTPHeaders { self }
}

extension [String: String]: HTTPHeadersConvertible {
    /// The header fields, sorted by name.
    public var httpHeaders: HTTPHeaders { HTTPHeaders(self).sorted() }
}
