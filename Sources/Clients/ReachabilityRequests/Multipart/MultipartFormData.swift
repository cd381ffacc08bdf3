public import FoundationEssentials
import LinuxSupport

/// A form with several parts, `multipart/form-data` (RFC 7578). Files are read while it is sent. Thread-safe.
///
/// A file is measured when it is added. An error of a file is thrown by ``encode()``, or is the result of the upload. Names are escaped as
/// in browsers (WHATWG, "multipart/form-data encoding algorithm"): `%22` for a quotation mark, `%0D` and `%0A` for CR and LF. A name cannot
/// add a header field.
public final class MultipartFormData: Sendable {
    /// The default threshold of uploads in bytes. A longer form is not encoded in memory.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The separator of the parts.
    public let boundary: String

    private struct Parts {
        var pieces: [BodyPiece] = []
        var contentLength: Int64 = 0
        var throttle: Throttle?
        /// The first error.
        var error: AFError?
    }

    private let parts = Locked(Parts())

    /// Creates an empty form.
    ///
    /// - Parameters:
    ///   - fileManager: Not used.
    ///   - boundary: The separator of the parts, 1 to 70 letters, digits and hyphens; nil for a random one.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        self.boundary = boundary ?? "reachability.boundary." + UInt64.random(in: .min ... .max).hexadecimal
    }

    /// The value of Content-Type.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The length of the contents of all parts in bytes, without their header fields.
    public var contentLength: UInt64 { UInt64(parts.withLock { $0.contentLength }) }

    /// Sends the form in packets of at most this size in bytes, with a delay in seconds before each, for example to leave a part of a slow
    /// line to other programs.
    public func throttleBandwidth(withPacketSize packetSize: Int, delay: Double) {
        parts.withLock { $0.throttle = Throttle(packetSize: packetSize, delay: delay) }
    }

    /// Adds a part of bytes in memory, with the name of its field. The names of its file and content type are optional.
    public func append(
        _ data: some Collection<UInt8>,
        withName name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) {
        append([.bytes(Array(data))], Self.headers(name, fileName, mimeType))
    }

    /// Adds a file, with the last part of its path as its name, and a content type by its extension.
    public func append(_ fileURL: URL, withName name: String) {
        let fileName = fileURL.lastPathComponent
        if fileName.isEmpty || fileName == "/" { return fail(.bodyPartFilenameInvalid(in: fileURL)) }
        append(fileURL, withName: name, fileName: fileName, mimeType: MIMEType.forFile(named: fileName))
    }

    /// Adds a file.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        guard fileURL.isFileURL else { return fail(.bodyPartURLInvalid(url: fileURL)) }
        let path = fileURL.path
        do throws(AFError) {
            append([.file(path, length: try FilePart.length(of: path))], Self.headers(name, fileName, mimeType))
        } catch {
            let isDirectory = (try? DirectoryListing.names(in: path)) != nil
            let reason = error.underlyingError ?? error
            fail(
                isDirectory
                    ? .bodyPartFileIsDirectory(at: fileURL)
                    : .bodyPartFileNotReachableWithError(atURL: fileURL, error: reason)
            )
        }
    }

    /// Adds a stream as a file. If the stream does not have this length in bytes, it is an error.
    public func append(
        _ stream: InputStream,
        withLength length: UInt64,
        name: String,
        fileName: String,
        mimeType: String
    ) {
        append(stream, withLength: length, headers: Self.headers(name, fileName, mimeType))
    }

    /// Adds a stream with these header fields.
    public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
        if UInt64(stream.length) != length {
            let bytesRead = UInt64(stream.length)
            let error = AFError.UnexpectedInputStreamLength(bytesExpected: length, bytesRead: bytesRead)
            return fail(.inputStreamReadFailed(error: error))
        }
        append(stream.pieces, headers)
    }

    private func append(_ content: [BodyPiece], _ headers: HTTPHeaders) {
        let lines = headers.map { "\($0.name): \($0.value)".filter { !$0.isNewline } + "\r\n" }
        let head = "--\(boundary)\r\n\(lines.joined())\r\n"
        parts.withLock { parts in
            parts.pieces += [.bytes(Array(head.utf8))] + content + [.bytes(Array("\r\n".utf8))]
            parts.contentLength += content.reduce(0) { $0 + $1.length }
        }
    }

    private func fail(_ reason: AFError.MultipartEncodingFailureReason) {
        parts.withLock { $0.error = $0.error ?? .multipartEncodingFailed(reason: reason) }
    }

    private static func headers(_ name: String, _ fileName: String?, _ mimeType: String?) -> HTTPHeaders {
        var disposition = "form-data; name=\"\(escape(name))\""
        if let fileName { disposition += "; filename=\"\(escape(fileName))\"" }
        var headers: HTTPHeaders = [.contentDisposition(disposition)]
        if let mimeType { headers.add(.contentType(mimeType)) }
        return headers
    }

    /// Returns the name as the WHATWG escapes it.
    static func escape(_ name: String) -> String {
        name.percentEncoded { !["\"", "\r", "\n"].contains($0) }
    }
}

extension MultipartFormData {
    /// Returns the bytes and files of the form.
    func pieces() throws(AFError) -> [BodyPiece] {
        let parts = parts.withLock { $0 }
        if let error = parts.error { throw error }
        return parts.pieces + [.bytes(Array("--\(boundary)--\r\n".utf8))]
    }

    /// Returns whether an upload writes the form to a file.
    func isWritten(usingThreshold threshold: UInt64) -> Bool {
        contentLength >= threshold && parts.withLock { $0.throttle == nil && $0.error == nil }
    }

    /// Returns the body of an upload. A form of the threshold's length or longer is written to a temporary file. A shorter form without
    /// files is in memory. A shorter form with files, and a throttled form, are read while they are sent.
    func uploadable(usingThreshold threshold: UInt64) throws -> UploadRequest.Uploadable {
        let pieces = try pieces()
        let throttle = parts.withLock { $0.throttle }
        if isWritten(usingThreshold: threshold) {
            let url = FileManager.default.temporaryDirectory.appending(path: "form-\(UUID().uuidString)")
            do { try writeEncodedData(to: url) } catch {
                OwnFile.remove(url.path)
                throw error
            }
            return .file(url, shouldRemove: true)
        }
        let isInMemory = throttle == nil && pieces.allSatisfy { if case .bytes = $0 { true } else { false } }
        return isInMemory ? .data(try encode()) : .stream(InputStream(pieces: pieces, throttle))
    }

    /// Returns the form in memory.
    ///
    /// - Throws: ``AFError/multipartEncodingFailed(reason:)`` if a part could not be added, or a file has changed.
    public func encode() throws -> Data {
        var data = Data()
        try read { data += $0 }
        return data
    }

    /// Writes the form to a new file.
    ///
    /// - Throws: ``AFError/multipartEncodingFailed(reason:)`` if the file exists or cannot be written, if a part could not be added, or a
    ///   file has changed.
    public func writeEncodedData(to fileURL: URL) throws {
        guard fileURL.isFileURL else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamURLInvalid(url: fileURL))
        }
        if FileName.isTaken(fileURL.path) {
            throw AFError.multipartEncodingFailed(reason: .outputStreamFileAlreadyExists(at: fileURL))
        }
        guard let file = try? OutputFile(fileURL.path, replacing: false) else {
            throw AFError.multipartEncodingFailed(reason: .outputStreamCreationFailed(for: fileURL))
        }
        try read { bytes in
            do { try file.append(bytes) } catch {
                throw AFError.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: error))
            }
        }
    }

    private func read(_ take: ([UInt8]) throws -> Void) throws {
        var reader = PieceReader(try pieces())
        while let bytes = try reader.next() { try take(bytes) }
    }
}
