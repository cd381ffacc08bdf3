import FoundationEssentials
import ReachabilityRetry

/// A header field.
public struct HTTPHeader: Hashable, Sendable {
    /// The name; names are the same whatever their case.
    public let name: String
    /// The value.
    public let value: String

    /// A header field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HTTPHeader {
    /// Accept
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }
    /// Accept-Charset
    public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }
    /// Accept-Encoding
    public static func acceptEncoding(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Encoding", value: value)
    }
    /// Accept-Language
    public static func acceptLanguage(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Accept-Language", value: value)
    }
    /// Authorization
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }
    /// Authorization with a bearer token (RFC 6750).
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }
    /// Authorization with a name and a password (RFC 7617).
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }
    /// Content-Disposition
    public static func contentDisposition(_ value: String) -> HTTPHeader {
        HTTPHeader(name: "Content-Disposition", value: value)
    }
    /// Content-Type
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }
    /// User-Agent
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
}

extension HTTPHeader: CustomStringConvertible {
    /// `Name: value`
    public var description: String { "\(name): \(value)" }
}

/// Header fields in the order they are sent; a name is there once, whatever its case.
public struct HTTPHeaders: Hashable, Sendable {
    private var headers: [HTTPHeader] = []

    /// None.
    public init() {}

    /// These, where the last of a name counts.
    public init(_ headers: [HTTPHeader]) {
        for header in headers { update(header) }
    }

    /// These; of names that differ in their case alone it is not said which counts.
    public init(_ dictionary: [String: String]) {
        for (name, value) in dictionary { update(name: name, value: value) }
    }

    /// Adds a field, or replaces that of its name.
    public mutating func add(name: String, value: String) { update(name: name, value: value) }

    /// Adds a field, or replaces that of its name.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Adds a field, or replaces that of its name.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Adds a field, or replaces that of its name, in its place.
    public mutating func update(_ header: HTTPHeader) {
        guard let index = index(of: header.name) else { return headers.append(header) }
        headers[index] = header
    }

    /// Removes a field.
    public mutating func remove(name: String) {
        if let index = index(of: name) { headers.remove(at: index) }
    }

    /// Sorts them by their names.
    public mutating func sort() {
        headers.sort { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// The same, sorted by their names.
    public func sorted() -> HTTPHeaders {
        var sorted = self
        sorted.sort()
        return sorted
    }

    /// The value of a field; nil where there is none.
    public func value(for name: String) -> String? { index(of: name).map { headers[$0].value } }

    /// The value of a field. Nil removes it.
    public subscript(name: String) -> String? {
        get { value(for: name) }
        set {
            if let newValue { update(name: name, value: newValue) } else { remove(name: name) }
        }
    }

    /// As a dictionary.
    public var dictionary: [String: String] {
        Dictionary(headers.map { ($0.name, $0.value) }) { _, last in last }
    }

    private func index(of name: String) -> Int? { headers.firstIndex { $0.name.isSameName(as: name) } }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// `["Name": "value"]`
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { update(name: name, value: value) }
    }

    /// `[.accept("text/plain")]`
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension HTTPHeaders: Collection {
    /// Goes through them in order.
    public typealias Iterator = IndexingIterator<HTTPHeaders>
    /// Where the first is.
    public var startIndex: Int { headers.startIndex }
    /// Behind the last.
    public var endIndex: Int { headers.endIndex }
    /// One of them.
    public subscript(position: Int) -> HTTPHeader { headers[position] }
    /// The place after this.
    public func index(after index: Int) -> Int { index + 1 }
}

extension HTTPHeaders: CustomStringConvertible {
    /// One in a line.
    public var description: String { headers.map(\.description).joined(separator: "\n") }
}
