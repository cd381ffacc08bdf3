import LinuxSupport

/// A form of several parts, `multipart/form-data` (RFC 7578), whose files are read while it is sent.
///
/// Its length is known from the beginning: files are measured when they are added. Names are escaped as browsers do it (WHATWG,
/// "multipart/form-data encoding algorithm"): a quotation mark is `%22`, CR and LF are `%0D` and `%0A`. So no name can add a header.
public struct MultipartFormData: Sendable {
    /// The longest form that ``encode(limit:)`` keeps in memory unless told otherwise: 10,000,000 bytes.
    public static let encodingMemoryThreshold: Int64 = 10_000_000

    /// What separates the parts.
    public let boundary: String

    private(set) var parts: [Part] = []

    struct Part: Sendable {
        let head: [UInt8]
        let content: Content
    }

    enum Content: Sendable {
        case bytes([UInt8])
        case file(String, length: Int64)

        var length: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .file(_, let length): length
            }
        }
    }

    /// - Parameter boundary: What separates the parts, 1 to 70 letters, digits and hyphens; nil for a random one.
    public init(boundary: String? = nil) {
        self.boundary = boundary ?? Self.randomBoundary()
    }

    private static func randomBoundary() -> String {
        "reachability.boundary." + UInt64.random(in: .min ... .max).hexadecimal
    }

    /// The value of Content-Type.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// How many bytes the form has.
    public var contentLength: Int64 {
        let delimiter = Int64(boundary.utf8.count)
        guard !parts.isEmpty else { return delimiter + 6 }
        // Each part has "--", the boundary and CRLF before it, and CRLF behind; the end has two hyphens more.
        return parts.reduce(delimiter + 6) { $0 + delimiter + 6 + Int64($1.head.count) + $1.content.length }
    }

    /// Adds a part of bytes in memory.
    ///
    /// - Parameters:
    ///   - data: Its content.
    ///   - name: The name of the field.
    ///   - fileName: The name of the file; nil for none.
    ///   - mimeType: Its type; nil for none.
    public mutating func append(
        _ data: some Collection<UInt8>,
        withName name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) {
        append(.bytes(Array(data)), name, fileName, mimeType)
    }

    /// Adds a file, with the last part of its path as its name, and a type by its ending.
    ///
    /// - Throws: ``RequestError/multipartEncodingFailed(reason:)`` where it cannot be read or is not a regular file.
    public mutating func append(fileAt path: String, withName name: String) throws(RequestError) {
        let fileName = path.split(at: "/").last.map(String.init) ?? path
        try append(fileAt: path, withName: name, fileName: fileName, mimeType: MIMEType.forFile(named: fileName))
    }

    /// Adds a file.
    ///
    /// - Throws: ``RequestError/multipartEncodingFailed(reason:)`` where it cannot be read or is not a regular file.
    public mutating func append(
        fileAt path: String,
        withName name: String,
        fileName: String,
        mimeType: String
    ) throws(RequestError) {
        guard let length = try? FilePart.length(of: path) else {
            throw .multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: path))
        }
        append(.file(path, length: length), name, fileName, mimeType)
    }

    private mutating func append(_ content: Content, _ name: String, _ fileName: String?, _ mimeType: String?) {
        var head = "Content-Disposition: form-data; name=\"\(Self.escape(name))\""
        if let fileName { head += "; filename=\"\(Self.escape(fileName))\"" }
        head += "\r\n"
        if let mimeType { head += "Content-Type: \(mimeType.filter { !$0.isNewline })\r\n" }
        parts.append(Part(head: Array((head + "\r\n").utf8), content: content))
    }

    /// The rule of the WHATWG.
    static func escape(_ name: String) -> String {
        name.percentEncoded { !["\"", "\r", "\n"].contains($0) }
    }

    /// What is sent, piece by piece: bytes and files in turn.
    var pieces: [Content] {
        let delimiter = Array("--\(boundary)".utf8)
        let newLine = Array("\r\n".utf8)
        var pieces: [Content] = []
        for part in parts {
            pieces.append(.bytes(delimiter + newLine + part.head))
            pieces.append(part.content)
            pieces.append(.bytes(newLine))
        }
        pieces.append(.bytes(delimiter + Array("--\r\n".utf8)))
        return pieces
    }

    /// The whole form in memory.
    ///
    /// - Throws: ``RequestError/multipartEncodingFailed(reason:)`` where it is longer than the limit, or a file is not as it was.
    public func encode(limit: Int64 = encodingMemoryThreshold) throws(RequestError) -> [UInt8] {
        let length = contentLength
        guard length <= limit else {
            throw .multipartEncodingFailed(reason: .inMemoryLimitExceeded(bytes: length, limit: limit))
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

/// A file that is read piece by piece while it is sent. It has to be as long as it was said to be: a server that was promised so many
/// bytes would wait for the rest, or take them for another request.
struct FilePart: Sendable {
    static let pieceSize: Int64 = 64 << 10

    private let path: String
    private let length: Int64
    private let file: ReadableFile
    private var offset: Int64 = 0

    init(_ path: String, length: Int64) throws(RequestError) {
        self.path = path
        self.length = length
        do {
            file = try ReadableFile(path)
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, saying: error.description))
        }
        try check()
    }

    /// The next bytes; nil at the end.
    mutating func next() throws(RequestError) -> [UInt8]? {
        guard offset < length else {
            try check()
            return nil
        }
        let bytes: [UInt8]
        do {
            bytes = try file.read(Int(min(Self.pieceSize, length - offset)), at: offset)
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, saying: error.description))
        }
        guard !bytes.isEmpty else { throw sizeChanged(offset) }
        offset += Int64(bytes.count)
        return bytes
    }

    private func check() throws(RequestError) {
        let now = file.size
        if now != length { throw sizeChanged(now) }
    }

    private func sizeChanged(_ now: Int64) -> RequestError {
        .multipartEncodingFailed(reason: .bodyPartFileSizeChanged(at: path, from: length, to: now))
    }

    static func length(of path: String) throws(RequestError) -> Int64 {
        do {
            return try ReadableFile(path).size
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, saying: error.description))
        }
    }
}

/// A file that could not be read.
struct FileFailure: Error, CustomStringConvertible {
    let path: String
    let saying: String
    var description: String { "\(path.printable): \(saying)" }
}
