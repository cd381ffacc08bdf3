/// A parsed JSON text from another machine (RFC 8259). Values may be nested up to 16 levels deep.
package enum JSONValue: Hashable, Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    /// A number, as its JSON text.
    case number(String)
    case bool(Bool)
    case null

    /// Parses a text. Returns nil unless the bytes are exactly one JSON value in UTF-8.
    package init?(_ bytes: [UInt8]) {
        guard let node = try? JSONReader.read(bytes) else { return nil }
        self.init(node)
    }

    /// Of the members of an object with the same key, the last one is used.
    private init(_ node: JSONNode) {
        self =
            switch node.value {
            case .object(let members): .object(Dictionary(members.map { ($0.key, JSONValue($0.node)) }) { $1 })
            case .array(let elements): .array(elements.map { JSONValue($0) })
            case .string(let text): .string(text)
            case .number(let text): .number(text)
            case .bool(let truth): .bool(truth)
            case .null: .null
            }
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var truth: Bool? { if case .bool(let truth) = self { truth } else { nil } }

    /// The value as a non-negative integer; nil for any other value.
    package var count: UInt64? { if case .number(let text) = self { UInt64(text) } else { nil } }
}
