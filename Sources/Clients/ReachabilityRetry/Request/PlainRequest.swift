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
