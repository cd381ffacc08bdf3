public import FoundationEssentials
import LinuxSupport

extension URLEncodedFormEncoder {
    /// The name of an element of an array.
    public enum ArrayEncoding: Sendable {
        /// The key is followed by brackets: `key[]`.
        case brackets
        /// The key is not changed: `key`.
        case noBrackets
        /// The key is followed by the index in brackets: `key[0]`.
        case indexInBrackets
        /// A closure returns the key. It receives the name of the array and the index.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

        package func encode(_ key: String, atIndex index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let encode): encode(key, index)
            }
        }
    }

    /// The text of a Boolean value.
    public enum BoolEncoding: Hashable, Sendable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal

        package func encode(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: String(value)
            }
        }
    }

    /// The text of bytes.
    public enum DataEncoding: Sendable {
        /// `Data` encodes itself, as an array of numbers.
        case deferredToData
        /// Base64 (RFC 4648, section 4).
        case base64
        /// A closure returns the text.
        case custom(@Sendable (Data) throws -> String)

        /// Returns the text of the data; nil if the data encodes itself.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }

    /// The text of a date.
    public enum DateEncoding: Sendable {
        /// `Date` encodes itself, as the seconds since 2001.
        case deferredToDate
        /// Seconds since 1970.
        case secondsSince1970
        /// Milliseconds since 1970.
        case millisecondsSince1970
        /// `1970-01-01T00:00:00Z` (ISO 8601), to the second.
        case iso8601
        /// A closure returns the text.
        case custom(@Sendable (Date) throws -> String)

        /// Returns the text of the date; nil if the date encodes itself.
        func encode(_ date: Date) throws -> String? {
            switch self {
            case .deferredToDate: nil
            case .secondsSince1970: String(date.timeIntervalSince1970)
            case .millisecondsSince1970: String(date.timeIntervalSince1970 * 1000)
            case .iso8601: date.formatted(.iso8601)
            case .custom(let encode): try encode(date)
            }
        }
    }

    /// The name of a part of a part, after the name of the part.
    public enum KeyPathEncoding: Sendable {
        /// The key of the child is in brackets: `parent[child]`.
        case brackets
        /// The keys are separated by dots: `parent.child`.
        case dots
        /// A closure returns the text that follows the key of the parent. It receives the key of the child.
        case custom(@Sendable (_ subkey: String) -> String)

        /// Creates an encoding from a closure.
        public init(_ encode: @escaping @Sendable (_ subkey: String) -> String) { self = .custom(encode) }

        func encode(_ key: String) -> String {
            switch self {
            case .brackets: "[\(key)]"
            case .dots: ".\(key)"
            case .custom(let encode): encode(key)
            }
        }
    }

    /// The text of a missing value.
    public enum NilEncoding: Sendable {
        /// The pair is omitted.
        case dropKey
        /// The value is empty: `key=`.
        case dropValue
        /// The value is the text `null`: `key=null`.
        case null
        /// A closure returns the value. If it returns nil, the key is left out.
        case custom(@Sendable () -> String?)

        func encode() -> String? {
            switch self {
            case .dropKey: nil
            case .dropValue: ""
            case .null: "null"
            case .custom(let encode): encode()
            }
        }
    }

    /// The text of a blank.
    public enum SpaceEncoding: Hashable, Sendable {
        /// A space is encoded as `%20`.
        case percentEscaped
        /// A space is encoded as `+`.
        case plusReplaced
    }

    /// The form of a name.
    public enum KeyEncoding: Sendable {
        /// Keys are not changed.
        case useDefaultKeys
        /// `oneTwoThree` as `one_two_three`.
        case convertToSnakeCase
        /// `oneTwoThree` as `one-two-three`.
        case convertToKebabCase
        /// The first letter is in upper case.
        case capitalized
        /// All letters are in upper case.
        case uppercased
        /// All letters are in lower case.
        case lowercased
        /// A closure returns the key.
        case custom(@Sendable (String) -> String)

        func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.separate(key, with: "_")
            case .convertToKebabCase: Self.separate(key, with: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let encode): encode(key)
            }
        }

        /// A word begins with a capital that follows a small letter, and with the last one of several that a small letter follows:
        /// `myURLProperty` has three.
        private static func separate(_ key: String, with separator: String) -> String {
            let letters = Array(key)
            var text = ""
            for (index, letter) in letters.enumerated() {
                let isLast = index + 1 < letters.count && letters[index + 1].isLowercase
                if index > 0, letter.isUppercase, letters[index - 1].isUppercase ? isLast : true { text += separator }
                text += letter.lowercased()
            }
            return text
        }
    }
}

/// The parts of a value that is being encoded.
final class FormNode {
    enum Content {
        case none
        case text(String)
        case array([FormNode])
        case object([(key: String, node: FormNode)])
    }

    var content = Content.none

    /// Returns the part with this name, which is created if it is missing.
    func part(_ key: String) -> FormNode {
        var parts: [(key: String, node: FormNode)] = []
        if case .object(let known) = content { parts = known }
        if let known = parts.first(where: { $0.key == key }) { return known.node }
        let node = FormNode()
        content = .object(parts + [(key, node)])
        return node
    }

    /// Adds an element at the end, and returns it.
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
            // Nil if the type encodes itself.
            let text =
                try (value as? Date).flatMap(options.dateEncoding.encode)
                ?? (value as? Data).flatMap(options.dataEncoding.encode)
            if let text { return content = .text(text) }
            try value.encode(to: FormNodeEncoder(codingPath: path, node: self, options: options))
        }
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

    /// The values of a superclass have the name of the array, as in Alamofire.
    func superEncoder() -> any Encoder { FormNodeEncoder(codingPath: codingPath, node: node, options: options) }
}

/// The named parts of a value. Missing values, which synthesized code omits, are encoded here, because the text may contain them.
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

    /// The values of a superclass are beside those of the class, as in Alamofire.
    func superEncoder() -> any Encoder { FormNodeEncoder(codingPath: codingPath, node: node, options: options) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key.stringValue) }

    private func encoder(for key: String) -> FormNodeEncoder {
        FormNodeEncoder(codingPath: codingPath, node: node.part(key), options: options)
    }
}

/// Names and values in a query or a form (RFC 3986, section 3.4).
package enum QueryEscaping {
    /// Unreserved characters, and `/` and `?`, which may stand in a query.
    package static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".unicodeScalars
    )

    package static func escape(_ text: String, allowed: Set<Unicode.Scalar> = allowed) -> String {
        text.percentEncoded { allowed.contains($0) }
    }

    /// Returns the URL with text added to its query, before its fragment.
    static func append(_ query: String, to url: String) -> String {
        guard !query.isEmpty else { return url }
        let hash = url.unicodeScalars.firstIndex(of: "#") ?? url.endIndex
        let (front, fragment) = (url[..<hash], url[hash...])
        guard let mark = front.unicodeScalars.firstIndex(of: "?") else { return front + "?" + query + fragment }
        let old = front[front.unicodeScalars.index(after: mark)...]
        return front + (old.isEmpty || old.hasSuffix("&") ? "" : "&") + query + fragment
    }
}
