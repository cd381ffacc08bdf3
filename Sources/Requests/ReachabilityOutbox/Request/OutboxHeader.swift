/// A header field of a stored request (RFC 9110, section 5). Its value is kept out of descriptions: it may be a secret.
public struct OutboxHeader: Hashable, Sendable {
    /// The name, as it was given; names are compared without regard to case.
    public var name: String

    /// The value.
    public var value: String

    /// A header field; it is checked when its request is put in.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension OutboxHeader: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name alone.
    public var description: String { "\(name): (redacted)" }

    /// The name alone.
    public var debugDescription: String { description }

    /// The name alone, for `dump(_:)` too.
    public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension [OutboxHeader] {
    /// The value of the first header of a name.
    func value(of name: String) -> String? { first { $0.name.lowercased() == name }?.value }
}
