import LinuxSupport
import ReachabilityRetry

/// What an answer says before its body. It stands where `HTTPURLResponse` does with Alamofire.
public struct ResponseHead: Hashable, Sendable {
    /// The URL that was asked last, after all redirects.
    public let url: String
    /// The status, 100 to 599.
    public let statusCode: Int
    /// The header fields. Several of one name are one here, with `, ` between their values (RFC 9110, section 5.3).
    public let headers: HTTPHeaders

    /// An answer.
    public init(url: String, statusCode: Int, headers: HTTPHeaders = HTTPHeaders()) {
        self.url = url
        self.statusCode = statusCode
        self.headers = headers
    }

    /// The media type; nil where there is none, or it is damaged.
    public var mimeType: MIMEType? { headers["Content-Type"].flatMap { MIMEType($0) } }

    /// How many bytes the body has as it is sent; nil where that is not said, or a coding will be undone.
    public var expectedContentLength: Int64? {
        guard contentEncoding == nil, let text = headers["Content-Length"] else { return nil }
        // Several values that are all the same are one (RFC 9110, section 8.6).
        let values = Set(text.split(at: ",").map { $0.trimmingBlanks })
        guard values.count == 1, let value = values.first, !value.isEmpty,
            value.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return nil }
        return Int64(value)
    }

    /// Whether the head says that no body follows (RFC 9110, sections 6.4.1, 15.3.5 and 15.3.6).
    var hasNoBody: Bool { [204, 205, 304].contains(statusCode) || expectedContentLength == 0 }

    /// The coding of the body; nil for none.
    var contentEncoding: String? {
        headers["Content-Encoding"].map { $0.lowercased() }.flatMap { $0 == "identity" || $0.isEmpty ? nil : $0 }
    }
}

extension StringProtocol {
    var trimmingBlanks: String {
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

    /// Takes one character, if it is next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// RFC 9110, section 5.6.2.
    mutating func token() -> String? {
        let token = rest.prefix { $0.isOfToken }
        guard !token.isEmpty else { return nil }
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// RFC 9110, section 5.6.4.
    mutating func quoted() -> String? {
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
        return nil
    }

    /// A number that is not negative; nil where there is none, or it is too large.
    mutating func number() -> Int64? {
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !digits.isEmpty, let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// `; name=value`, the name in small letters.
    mutating func parameter() -> (name: String, value: String)? {
        skipBlanks()
        while take(";") { skipBlanks() }
        guard let name = token(), take("="), let value = quoted() ?? token() else { return nil }
        return (name.lowercased(), value)
    }
}

/// A media type, `type/subtype` with parameters (RFC 9110, section 8.3.1).
public struct MIMEType: Hashable, Sendable {
    /// In small letters; `*` for any.
    public let type: String
    /// In small letters; `*` for any.
    public let subtype: String
    /// The first value of each parameter, its name in small letters.
    public let parameters: [String: String]

    /// Reads a media type; nil for what is none.
    public init?(_ text: String) {
        var reader = FieldReader(text)
        guard let type = reader.token(), reader.take("/"), let subtype = reader.token() else { return nil }
        self.type = type.lowercased()
        self.subtype = subtype.lowercased()
        var parameters: [String: String] = [:]
        // A damaged parameter ends what is read, and leaves the type.
        while let (name, value) = reader.parameter() { if parameters[name] == nil { parameters[name] = value } }
        self.parameters = parameters
    }

    /// Whether an answer of another type is one of these.
    public func matches(_ other: MIMEType) -> Bool {
        (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
    }

    var isWildcard: Bool { type == "*" && subtype == "*" }

    /// Whether it is a page for people.
    var isPage: Bool { type == "text" && subtype == "html" || subtype == "xhtml+xml" }

    /// A type by the ending of a name; `application/octet-stream` where it says nothing.
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
        "mp3": "audio/mpeg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm",
    ]
}

extension MIMEType: CustomStringConvertible {
    /// Without parameters.
    public var description: String { "\(type)/\(subtype)" }
}
