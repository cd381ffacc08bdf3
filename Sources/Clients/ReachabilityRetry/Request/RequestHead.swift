/// The method, URL and header fields of a request, for adapters and any client. The client keeps the body.
public struct RequestHead: Hashable, Sendable {
    /// A header field.
    public struct Field: Hashable, Sendable {
        /// The name. Comparison ignores case.
        public var name: String
        /// The value.
        public var value: String

        /// Creates a header field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The method.
    public var method: RequestMethod

    /// The URL.
    public var url: String

    /// The header fields in the order they are sent.
    public var fields: [Field]

    /// The maximum time of an attempt, in place of ``RequestRetryOptions/attemptTimeout``; nil if that applies.
    package var attemptTimeout: Duration?

    /// Creates a request.
    public init(method: RequestMethod = .get, url: String, fields: [Field] = []) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// The first value of a header field. Setting it replaces all fields of that name. Setting nil removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            let place = fields.firstIndex { $0.isNamed(name) } ?? fields.count
            fields.removeAll { $0.isNamed(name) }
            if let newValue { fields.insert(Field(name: name, value: newValue), at: place) }
        }
    }

    /// The field Idempotency-Key; nil if it is missing or empty. ``RequestRetryOptions/idempotency`` may use another
    /// field for the key.
    public var idempotencyKey: String? { self[IdempotencyKeys.standardHeader].flatMap { $0.isEmpty ? nil : $0 } }
}

/// Descriptions do not contain the value, which may be a secret.
extension RequestHead.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, without the value.
    public var description: String { "\(name): (redacted)" }

    /// The name, without the value.
    public var debugDescription: String { description }

    /// The name, without the value, also for `dump(_:)`.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension RequestHead.Field {
    fileprivate func isNamed(_ other: String) -> Bool { name.isSameName(as: other) }
}

extension String {
    /// Returns whether two header field names are equal. Ignores ASCII case (RFC 9110, section 5.1).
    package func isSameName(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return self == other || utf8.elementsEqual(other.utf8) { $0.smallLetter == $1.smallLetter }
    }
}

extension UInt8 {
    fileprivate var smallLetter: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}

/// The method of a request (RFC 9110, section 9). Methods are case-sensitive, and any token is valid.
public struct RequestMethod: RawRepresentable, Hashable, Sendable {
    /// The name as it is sent.
    public let rawValue: String

    /// Creates a method with any name. ``InvalidRequest`` reports an invalid name when the request is sent.
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

    /// A Boolean value that indicates whether the method is idempotent (RFC 9110, section 9.2.2): PUT, DELETE and the
    /// safe methods. An unknown method is not idempotent.
    public var isIdempotent: Bool { Self.idempotent.contains(self) }

    private static let idempotent: Set<RequestMethod> = [.get, .head, .options, .trace, .put, .delete]
}

extension RequestMethod: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}

/// The error of a request with an invalid method or header field (RFC 9110, sections 5.1, 5.5 and 9.1). A server could
/// read such a request as a different one, or as two. Nothing of it is sent.
public enum InvalidRequest: RetryableError, Hashable {
    /// The method is not a token.
    case method(String)
    /// The name of the field is not a token, or its value contains a line break or NUL.
    case header(name: String)

    /// Nil: the error is not retried.
    public var failureStage: FailureStage? { nil }
}

extension InvalidRequest: CustomStringConvertible {
    /// One sentence with the error and a remedy. Values are escaped.
    public var description: String {
        switch self {
        case .method(let text):
            "cannot send the request: \(text.debugDescription) is not a valid method; a method is a token (RFC 9110, 5.6.2)"
        case .header(let name):
            "cannot send the header field \(name.debugDescription): its name must be a token (RFC 9110, 5.6.2), and its value"
                + " must not contain a line break or NUL"
        }
    }
}

extension RequestHead {
    /// Throws an error if the method or a header field is invalid. Clients handle such a request differently. For
    /// example, swift-nio ends the process if a name is not ASCII, and other clients send the lines that a line break
    /// creates.
    package func check() throws(InvalidRequest) {
        guard method.rawValue.isToken else { throw .method(method.rawValue) }
        for field in fields {
            let isSafe = field.value.utf8.allSatisfy { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            guard isSafe, field.name.isToken else { throw .header(name: field.name) }
        }
    }
}

extension String {
    /// A Boolean value that indicates whether the string is a token (RFC 9110, section 5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy { $0.isOfToken } }
}

extension UInt8 {
    /// A Boolean value that indicates whether the byte may occur in a token (RFC 9110, section 5.6.2).
    package var isOfToken: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        // !, # to ', *, +, -, ., ^ to `, | and ~.
        case 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e...0x60, 0x7c, 0x7e: true
        default: false
        }
    }
}
