public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// The head of an answer: URL, status and header fields. A value with the members of Foundation's class of this name.
public struct HTTPURLResponse: Hashable, Sendable {
    /// The URL as text, after all redirects.
    package let text: String
    /// The status, 100 to 599.
    public let statusCode: Int
    /// The header fields. Several of one name are one here, with `, ` between their values (RFC 9110, section 5.3).
    public let headers: HTTPHeaders

    package init(text: String, statusCode: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.text = text
        self.statusCode = statusCode
        self.headers = headers
    }
}

extension HTTPURLResponse {
    /// The URL that was requested last, after all redirects.
    public var url: URL? { URL(string: text) }

    /// The media type without parameters, in lower case; nil if it is missing or damaged.
    public var mimeType: String? { mediaType?.description }

    /// The character set of the media type, as the server names it; nil if it is missing.
    public var textEncodingName: String? { mediaType?.parameters["charset"] }

    /// The length of the body as it is sent; -1 if it is not known, or a content coding will be removed.
    public var expectedContentLength: Int64 { contentLength ?? -1 }

    /// A name for the file: that of Content-Disposition, else the last part of the URL, else `Unknown`. It is safe as a name in a
    /// directory.
    public var suggestedFilename: String? {
        let sent = headers["Content-Disposition"].flatMap { ContentDisposition($0)?.safeFileName }
        return sent ?? url.flatMap { ContentDisposition.safe($0.lastPathComponent) } ?? "Unknown"
    }

    /// The media type; nil if it is missing or damaged.
    var mediaType: MIMEType? { headers["Content-Type"].flatMap { MIMEType($0) } }

    /// The length of the body as it is sent; nil if it is not known, or a content coding will be removed.
    var contentLength: Int64? {
        guard contentEncoding == nil, let text = headers["Content-Length"] else { return nil }
        var reader = FieldReader(text)
        guard let length = reader.number() else { return nil }
        reader.skipBlanks()
        // Several equal values are one (RFC 9110, section 8.6).
        while !reader.isAtEnd {
            guard reader.take(",") else { return nil }
            reader.skipBlanks()
            guard reader.number() == length else { return nil }
            reader.skipBlanks()
        }
        return length
    }

    /// A Boolean value that indicates whether the head announces that no body follows (RFC 9110, sections 6.4.1, 15.3.5 and 15.3.6).
    var hasNoBody: Bool { [204, 205, 304].contains(statusCode) || contentLength == 0 }

    /// The content coding; nil for none.
    var contentEncoding: String? {
        headers["Content-Encoding"].map { $0.lowercased() }.flatMap { $0 == "identity" || $0.isEmpty ? nil : $0 }
    }
}

extension StringProtocol {
    package var trimmingBlanks: String {
        let front = drop { $0 == " " || $0 == "\t" }
        return String(front.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// Reads a field value from left to right (RFC 9110, section 5.6).
struct FieldReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
        skipBlanks()
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// Returns whether a character is the next one.
    func isAt(_ character: Unicode.Scalar) -> Bool { rest.first == UInt8(ascii: character) }

    /// Takes a character if it is the next one.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard isAt(character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// Drops a byte.
    mutating func skip() { rest = rest.dropFirst() }

    /// RFC 9110, section 5.6.2.
    mutating func token() -> String? {
        let token = rest.prefix { $0.isOfToken }
        guard !token.isEmpty else { return nil }
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// RFC 9110, section 5.6.4.
    ///
    /// - Parameter mayBeOpen: True if the text may end without a quotation mark.
    mutating func quoted(mayBeOpen: Bool = false) -> String? {
        var reader = self
        guard reader.take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = reader.rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                self = reader
                return String(decoding: bytes, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                guard let next = reader.rest.popFirst() else { return nil }
                bytes.append(next)
            } else {
                bytes.append(byte)
            }
        }
        guard mayBeOpen else { return nil }
        self = reader
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a number that is not negative; nil if it is missing or too large.
    mutating func number() -> Int64? {
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !digits.isEmpty, let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// `; name=value`, with the name in lower case.
    mutating func parameter() -> (name: String, value: String)? {
        skipBlanks()
        while take(";") { skipBlanks() }
        guard let name = token(), take("="), let value = quoted() ?? token() else { return nil }
        return (name.lowercased(), value)
    }
}

/// A media type, `type/subtype` with parameters (RFC 9110, section 8.3.1).
struct MIMEType: Hashable, Sendable {
    /// The type in lower case; `*` for any.
    let type: String
    /// The subtype in lower case; `*` for any.
    let subtype: String
    /// The first value of each parameter, by its name in lower case.
    let parameters: [String: String]

    /// Reads a media type; nil if it is damaged.
    init?(_ text: String) {
        var reader = FieldReader(text)
        guard let type = reader.token(), reader.take("/"), let subtype = reader.token() else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        var parameters: [String: String] = [:]
        // A damaged parameter ends the list.
        while let (name, value) = reader.parameter() { if parameters[name] == nil { parameters[name] = value } }
        self.parameters = parameters
    }

    /// Returns whether it includes another type.
    func matches(_ other: MIMEType) -> Bool {
        (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
    }

    var isWildcard: Bool { type == "*" && subtype == "*" }

    /// A Boolean value that indicates whether it is an HTML page.
    var isPage: Bool { type == "text" && subtype == "html" || subtype == "xhtml+xml" }

    /// Returns the type for the extension of a name; `application/octet-stream` for an unknown one.
    static func forFile(named name: String) -> String {
        let parts = name.split(at: ".", omittingEmptySubsequences: false)
        guard parts.count > 1, let ending = parts.last else { return "application/octet-stream" }
        return endings[ending.lowercased()] ?? "application/octet-stream"
    }

    private static let endings = [
        "txt": "text/plain", "html": "text/html", "htm": "text/html", "css": "text/css", "csv": "text/csv",
        "js": "text/javascript", "json": "application/json", "xml": "application/xml", "pdf": "application/pdf",
        "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar", "jpg": "image/jpeg",
        "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "svg": "image/svg+xml", "webp": "image/webp",
        "mp3": "audio/mpeg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime",
        "m4a": "audio/mp4", "ogg": "audio/ogg", "heic": "image/heic", "bmp": "image/bmp", "ico": "image/x-icon",
        "md": "text/markdown", "plist": "application/x-plist", "wasm": "application/wasm", "rtf": "application/rtf",
    ]
}

extension MIMEType: CustomStringConvertible {
    /// The type without parameters.
    var description: String { "\(type)/\(subtype)" }
}
