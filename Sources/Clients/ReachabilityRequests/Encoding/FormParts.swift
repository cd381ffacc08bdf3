/// The named parts of a value. What is left out where it is nil, in compiled code, is asked about here: it may be wanted in the text.
struct FormParts<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey]
    let node: FormNode
    let options: URLEncodedFormEncoder

    func encodeNil(forKey key: Key) { node.part(key.stringValue).encodeNil(options) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try node.part(key.stringValue).encode(value, at: codingPath + [key], options)
    }

    private func encodeAny(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeAny(value, key) }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try encodeAny(value, key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(for: key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(for: "super") }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key.stringValue) }

    private func encoder(for key: String) -> FormNodeEncoder {
        FormNodeEncoder(codingPath: codingPath, node: node.part(key), options: options)
    }
}
