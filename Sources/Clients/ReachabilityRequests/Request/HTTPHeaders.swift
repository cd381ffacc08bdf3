import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry

/// The method of a request (RFC 9110, section 9).
public typealias HTTPMethod = RequestMethod

extension HTTPMethod {
    /// QUERY (draft-ietf-httpbis-safe-method-w-body)
    public static let query = HTTPMethod(rawValue: "QUERY")
}

/// A header field.
public struct HTTPHeader: Hashable, Sendable {
    /// The name. Names that differ only in case are equal.
    public let name: String
    /// The value of the field.
    public let value: String

    /// Creates a header field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader {
    /// Creates the field `Accept`.
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    /// Creates the field `Accept-Charset`.
    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }
    /// Creates the field `Accept-Encoding`.
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }
    /// Sec-WebSocket-Protocol (RFC 6455)
    public static func websocketProtocol(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
    }
    /// Creates the field `Accept-Language`.
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }
    /// Creates the field `Authorization`.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
    /// Authorization with a bearer token (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }
    /// Authorization with a name and a password (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }
    /// Creates the field `Content-Disposition`.
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }
    /// Creates the field `Content-Type`.
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    /// Creates the field `User-Agent`.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
}

extension HTTPHeader: CustomStringConvertible {
    /// The field as `Name: value`.
    public var description: String { "\(name): \(value)" }
}

/// Header fields in the order in which they are sent. Each name occurs once, whatever its case.
public struct HTTPHeaders: Hashable, Sendable {
    private var headers: [HTTPHeader] = []

    /// Creates an empty list of fields.
    public init() {}

    /// Fields. The last one of a name counts.
    public init(_ headers: [HTTPHeader]) {
        for header in headers { update(header) }
    }

    /// Fields. Of names that differ only in case, any one counts.
    public init(_ dictionary: [String: String]) {
        for (name, value) in dictionary { update(name: name, value: value) }
    }

    /// Adds a field, or replaces that of its name.
    public mutating func add(name: String, value: String) { update(name: name, value: value) }

    /// Adds a field, or replaces that of its name.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Adds a field, or replaces that of its name.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Adds a field, or replaces that of its name in its place.
    public mutating func update(_ header: HTTPHeader) {
        guard let index = index(of: header.name) else { return headers.append(header) }
        headers[index] = header
    }

    /// Removes a field.
    public mutating func remove(name: String) {
        if let index = index(of: name) { headers.remove(at: index) }
    }

    /// Sorts the fields by name.
    public mutating func sort() {
        headers.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// Returns the fields, sorted by name.
    public func sorted() -> HTTPHeaders {
        var sorted = self
        sorted.sort()
        return sorted
    }

    /// Returns the value of a field; nil if it is missing.
    public func value(for name: String) -> String? { index(of: name).map { headers[$0].value } }

    /// The value of a field. Setting nil removes the field.
    public subscript(name: String) -> String? {
        get { value(for: name) }
        set {
            if let newValue { update(name: name, value: newValue) } else { remove(name: name) }
        }
    }

    /// The fields as a dictionary.
    public var dictionary: [String: String] {
        Dictionary(headers.map { ($0.name, $0.value) }) { _, last in last }
    }

    private func index(of name: String) -> Int? { headers.firstIndex { $0.name.isSameName(as: name) } }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates fields from a literal such as `["Name": "value"]`.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }

    /// Creates fields from a literal such as `[.accept("text/plain")]`.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: Collection {
    /// The fields in their order.
    public typealias Iterator = IndexingIterator<HTTPHeaders>
    /// The index of the first field.
    public var startIndex: Int { headers.startIndex }
    /// The index after the last field.
    public var endIndex: Int { headers.endIndex }
    /// Returns the field at a position.
    public subscript(position: Int) -> HTTPHeader { headers[position] }
    /// Returns the next index.
    public func index(after index: Int) -> Int { index + 1 }
}

extension HTTPHeaders: CustomStringConvertible {
    /// The fields, one per line.
    public var description: String { headers.map(\.description).joined(separator: "\n") }
}

extension HTTPHeaders {
    /// The default header fields of a session: Accept-Language and User-Agent.
    public static let `default`: HTTPHeaders = [.defaultAcceptLanguage, .defaultUserAgent]
}

extension HTTPHeader {
    /// Accept-Language with at most six languages of the environment, the preferred one first: `de-DE;q=1.0, en;q=0.9`.
    public static let defaultAcceptLanguage = acceptLanguage(
        Self.acceptedLanguages { EnvironmentVariable.value(of: $0) }
    )

    /// User-Agent with the name of the program and the version of the kernel: `backup (Linux 6.1.0) ReachabilityRequests`.
    public static let defaultUserAgent: HTTPHeader = {
        let process = ProcessInfo.processInfo.processName.utf8.prefix(64)
        let name = String(decoding: process.map { $0.isOfToken ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
        let version = ProcessInfo.processInfo.operatingSystemVersion
        let system = "Linux \(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
        return userAgent("\(name.isEmpty ? "Unknown" : name) (\(system)) ReachabilityRequests")
    }()

    /// Returns the languages of `LANGUAGE` and of the locale of messages (gettext(3), setlocale(3)); English without them.
    static func acceptedLanguages(_ variable: (String) -> String?) -> String {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(variable).first
        var languages: [String] = []
        for name in [variable("LANGUAGE"), locale].compactMap({ $0 }).flatMap({ $0.utf8.split(separator: 0x3a) }) {
            guard let language = language(of: name), !languages.contains(language) else { continue }
            languages.append(language)
        }
        if languages.isEmpty { languages = ["en"] }
        return languages.prefix(6).enumerated().map { place, language in
            "\(language);q=\(place == 0 ? "1.0" : "0.\(10 - place)")"
        }.joined(separator: ", ")
    }

    /// For example `de-DE` of `de_DE.UTF-8@euro`; nil for `C`, `POSIX` and other texts that are not a language (RFC 5646).
    private static func language(of locale: Substring.UTF8View) -> String? {
        let name = locale.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
        let text = String(decoding: name.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let isLanguage = text.utf8.prefix { $0 != UInt8(ascii: "-") }.allSatisfy { letters.contains($0 | 0x20) }
        let isTag = text.utf8.allSatisfy { letters.contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2d }
        let length = text.utf8.prefix { $0 != UInt8(ascii: "-") }.count
        return isLanguage && isTag && (2...3).contains(length) && text.utf8.count <= 35 ? text : nil
    }
}
