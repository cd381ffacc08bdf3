/// The method, URL and header fields of a request, for adapters and any client. The body stays with the client.
public struct PlainRequest: Hashable, Sendable {
    /// A header field.
    public struct Field: Hashable, Sendable {
        /// The name. Names that differ only in case are equal.
        public var name: String
        /// The value.
        public var value: String

        /// A header field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The method.
    public var method: RequestMethod

    /// The URL as text.
    public var url: String

    /// The header fields in the order they are sent.
    public var fields: [Field]

    /// A request.
    public init(method: RequestMethod = .get, url: String, fields: [Field] = []) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// The first value of a header field. Setting it replaces all of that name; nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            let place = fields.firstIndex { $0.isNamed(name) } ?? fields.count
            fields.removeAll { $0.isNamed(name) }
            if let newValue { fields.insert(Field(name: name, value: newValue), at: place) }
        }
    }

    /// The field Idempotency-Key; nil if it is missing or empty. ``RequestRetryOptions/idempotency`` may name another field for the key.
    public var idempotencyKey: String? { self[IdempotencyKeys.standardHeader].flatMap { $0.isEmpty ? nil : $0 } }
}

/// Descriptions do not contain the value, which may be a secret.
extension PlainRequest.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name alone.
    public var description: String { "\(name): (redacted)" }

    /// The name alone.
    public var debugDescription: String { description }

    /// The name alone, for `dump(_:)` too.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension PlainRequest.Field {
    fileprivate func isNamed(_ other: String) -> Bool { name.isSameName(as: other) }
}

extension String {
    /// Whether two header fields have the same name, whatever its case (RFC 9110, section 5.1).
    package func isSameName(as other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0.smallLetter == $1.smallLetter }
    }
}

extension UInt8 {
    fileprivate var smallLetter: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}

/// The method of a request (RFC 9110, section 9). Methods are case-sensitive, and any name is possible.
public struct RequestMethod: RawRepresentable, Hashable, Sendable {
    /// The name as it is sent.
    public let rawValue: String

    /// Takes any name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// CONNECT
    public static let connect = RequestMethod(rawValue: "CONNECT")
    /// DELETE
    public static let delete = RequestMethod(rawValue: "DELETE")
    /// GET
    public static let get = RequestMethod(rawValue: "GET")
    /// HEAD
    public static let head = RequestMethod(rawValue: "HEAD")
    /// OPTIONS
    public static let options = RequestMethod(rawValue: "OPTIONS")
    /// PATCH (RFC 5789)
    public static let patch = RequestMethod(rawValue: "PATCH")
    /// POST
    public static let post = RequestMethod(rawValue: "POST")
    /// PUT
    public static let put = RequestMethod(rawValue: "PUT")
    /// TRACE
    public static let trace = RequestMethod(rawValue: "TRACE")

    /// Whether the method is idempotent (RFC 9110, section 9.2.2): PUT, DELETE and the safe methods. An unknown method is not.
    public var isIdempotent: Bool { Self.idempotent.contains(self) }

    private static let idempotent: Set<RequestMethod> = [.get, .head, .options, .trace, .put, .delete]
}

extension RequestMethod: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}

/// The error of a request that a server would read as another one, or as two (RFC 9110, sections 5.1, 5.5 and 9.1). Nothing of it is sent.
public enum InvalidRequest: RetryableError, Hashable {
    /// The method is not a token.
    case method(String)
    /// The name of the field is not a token, or the value has a line break or a NUL.
    case header(name: String)

    /// Not retried.
    public var failureStage: FailureStage? { nil }
}

extension InvalidRequest: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do. Texts are escaped.
    public var description: String {
        switch self {
        case .method(let text):
            "\(text.debugDescription) is no method, so nothing was sent; a method has letters, digits and some signs"
        case .header(let name):
            "the header field \(name.debugDescription) cannot be sent, so nothing was: a name has letters, digits and some signs of ASCII, a"
                + " value no line break"
        }
    }
}

extension PlainRequest {
    /// Throws if the request cannot be sent as it is. Clients handle such a request differently: swift-nio ends the process if a name is not ASCII,
    /// and others send the lines that a line break makes.
    package func check() throws(InvalidRequest) {
        guard method.rawValue.isToken else { throw .method(method.rawValue) }
        for field in fields {
            let isSafe = field.value.utf8.allSatisfy { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            guard isSafe, field.name.isToken else { throw .header(name: field.name) }
        }
    }
}

extension String {
    /// Whether it is a token (RFC 9110, section 5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy { $0.isOfToken } }
}

extension UInt8 {
    /// Whether it may stand in a token (RFC 9110, section 5.6.2).
    package var isOfToken: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
