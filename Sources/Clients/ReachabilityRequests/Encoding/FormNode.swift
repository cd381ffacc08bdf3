import FoundationEssentials

/// A value while it is taken apart.
final class FormNode {
    enum Content {
        case none
        case text(String)
        case array([FormNode])
        case object([(key: String, node: FormNode)])
    }

    var content = Content.none

    /// The part of this name; made where it is not there.
    func part(_ key: String) -> FormNode {
        var parts: [(key: String, node: FormNode)] = []
        if case .object(let known) = content { parts = known }
        if let known = parts.first(where: { $0.key == key }) { return known.node }
        let node = FormNode()
        content = .object(parts + [(key, node)])
        return node
    }

    /// Another element at the end.
    func element() -> FormNode {
        let node = FormNode()
        if case .array(let elements) = content { content = .array(elements + [node]) } else { content = .array([node]) }
        return node
    }

    var count: Int { if case .array(let elements) = content { elements.count } else { 0 } }

    func encode(_ value: some Encodable, at path: [any CodingKey], _ options: URLEncodedFormEncoder) throws {
        switch value {
        case let value as Bool: content = .text(options.boolEncoding.encode(value))
        case let value as String: content = .text(value)
        case let value as any BinaryInteger: content = .text("\(value)")
        case let value as Double: content = .text("\(value)")
        case let value as Float: content = .text("\(value)")
        case let value as Decimal: content = .text("\(value)")
        case let value as URL: content = .text(value.absoluteString)
        default:
            if let text = try Self.text(of: value, options) {
                content = .text(text)
            } else {
                try value.encode(to: FormNodeEncoder(codingPath: path, node: self, options: options))
            }
        }
    }

    /// Nil where it is left to the type.
    private static func text(of value: any Encodable, _ options: URLEncodedFormEncoder) throws -> String? {
        if let date = value as? Date { return try options.dateEncoding.encode(date) }
        if let data = value as? Data { return try options.dataEncoding.encode(data) }
        return nil
    }

    func encodeNil(_ options: URLEncodedFormEncoder) {
        if let text = options.nilEncoding.encode() { content = .text(text) }
    }
}

struct FormNodeEncoder: Encoder {
    let codingPath: [any CodingKey]
    let node: FormNode
    let options: URLEncodedFormEncoder
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .none = node.content { node.content = .object([]) }
        return KeyedEncodingContainer(FormParts<Key>(codingPath: codingPath, node: node, options: options))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .none = node.content { node.content = .array([]) }
        return FormElements(codingPath: codingPath, node: node, options: options)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension FormNodeEncoder: SingleValueEncodingContainer {
    func encodeNil() { node.encodeNil(options) }
    func encode(_ value: some Encodable) throws { try node.encode(value, at: codingPath, options) }
}

private struct FormElements: UnkeyedEncodingContainer {
    let codingPath: [any CodingKey]
    let node: FormNode
    let options: URLEncodedFormEncoder
    var count: Int { node.count }

    func encodeNil() { node.element().encodeNil(options) }
    func encode(_ value: some Encodable) throws { try node.element().encode(value, at: codingPath, options) }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        FormNodeEncoder(codingPath: codingPath, node: node.element(), options: options).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        FormNodeEncoder(codingPath: codingPath, node: node.element(), options: options).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        FormNodeEncoder(codingPath: codingPath, node: node.element(), options: options)
    }
}
