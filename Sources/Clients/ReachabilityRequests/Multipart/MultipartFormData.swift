import FoundationEssentials
import LinuxSupport

/// A form with several parts, `multipart/form-data` (RFC 7578). Files are read while it is sent.
///
/// Its length is known, because files are measured when they are added. Names are escaped as in browsers (WHATWG, "multipart/form-data
/// encoding algorithm"): `%22` for a quotation mark, `%0D` and `%0A` for CR and LF. A name cannot add a header field.
public struct MultipartFormData: Sendable {
    /// The default limit of ``encode(limit:)``: 10,000,000 bytes.
    public static let encodingMemoryThreshold: Int64 = 10_000_000

    /// The separator of the parts.
    public let boundary: String

    private(set) var parts: [Part] = []

    struct Part: Sendable {
        let head: [UInt8]
        let content: BodyPiece
    }

    /// - Parameter boundary: The separator of the parts, 1 to 70 letters, digits and hyphens; nil for a random one.
    public init(boundary: String? = nil) {
        self.boundary = boundary ?? Self.randomBoundary()
    }

    private static func randomBoundary() -> String {
        "reachability.boundary." + UInt64.random(in: .min ... .max).hexadecimal
    }

    /// The value of Content-Type.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// The length of the form in bytes.
    public var contentLength: Int64 {
        let delimiter = Int64(boundary.utf8.count)
        guard !parts.isEmpty else { return delimiter + 6 }
        // Each part has "--", the boundary and CRLF before it, and CRLF behind; the end has two hyphens more.
        return parts.reduce(delimiter + 6) { $0 + delimiter + 6 + Int64($1.head.count) + $1.content.length }
    }

    /// Adds a part of bytes in memory.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file; nil for none.
    ///   - mimeType: The content type; nil for none.
    public mutating func append(
        _ data: some Collection<UInt8>,
        withName name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) {
        append(.bytes(Array(data)), name, fileName, mimeType)
    }

    /// Adds a file, with the last part of its path as its name, and a content type by its extension.
    ///
    /// - Throws: ``AFError/multipartEncodingFailed(reason:)`` if it cannot be read or is not a regular file.
    public mutating func append(fileAt path: String, withName name: String) throws(AFError) {
        let fileName = path.split(at: "/").last.map(String.init) ?? path
        try append(fileAt: path, withName: name, fileName: fileName, mimeType: MIMEType.forFile(named: fileName))
    }

    /// Adds a file.
    ///
    /// - Throws: ``AFError/multipartEncodingFailed(reason:)`` if it cannot be read or is not a regular file.
    public mutating func append(
        fileAt path: String,
        withName name: String,
        fileName: String,
        mimeType: String
    ) throws(AFError) {
        guard let length = try? FilePart.length(of: path) else {
            throw .multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: URL(filePath: path)))
        }
        append(.file(path, length: length), name, fileName, mimeType)
    }

    private mutating func append(_ content: BodyPiece, _ name: String, _ fileName: String?, _ mimeType: String?) {
        var head = "Content-Disposition: form-data; name=\"\(Self.escape(name))\""
        if let fileName { head += "; filename=\"\(Self.escape(fileName))\"" }
        head += "\r\n"
        if let mimeType { head += "Content-Type: \(mimeType.filter { !$0.isNewline })\r\n" }
        parts.append(Part(head: Array((head + "\r\n").utf8), content: content))
    }

    /// The name as the WHATWG escapes it.
    static func escape(_ name: String) -> String {
        name.percentEncoded { !["\"", "\r", "\n"].contains($0) }
    }

    /// The pieces of the form: bytes and files.
    var pieces: [BodyPiece] {
        let delimiter = Array("--\(boundary)".utf8)
        let newLine = Array("\r\n".utf8)
        var pieces: [BodyPiece] = []
        for part in parts {
            pieces.append(.bytes(delimiter + newLine + part.head))
            pieces.append(part.content)
            pieces.append(.bytes(newLine))
        }
        pieces.append(.bytes(delimiter + Array("--\r\n".utf8)))
        return pieces
    }

    /// The form in memory.
    ///
    /// - Throws: ``AFError/multipartEncodingFailed(reason:)`` if it is longer than the limit, or a file has changed.
    public func encode(limit: Int64 = encodingMemoryThreshold) throws(AFError) -> [UInt8] {
        let length = contentLength
        guard length <= limit else {
            let error = FormTooLong(length: length, limit: limit)
            throw .multipartEncodingFailed(reason: .outputStreamWriteFailed(error: error))
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length))
        for piece in pieces {
            switch piece {
            case .bytes(let piece): bytes += piece
            case .file(let path, let length):
                var file = try FilePart(path, length: length)
                while let part = try file.next() { bytes += part }
            }
        }
        return bytes
    }
}
