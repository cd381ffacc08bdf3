import LinuxSupport

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
