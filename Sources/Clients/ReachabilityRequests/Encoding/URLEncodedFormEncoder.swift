import LinuxSupport

/// Encodes a value with named parts as names and values, `a=1&b%5B%5D=2`.
///
/// | Setting | Default |
/// |---|---|
/// | ``alphabetizeKeyValuePairs`` | true: equal values have equal texts |
/// | ``arrayEncoding`` | ``ArrayEncoding/brackets`` |
/// | ``boolEncoding`` | ``BoolEncoding/numeric`` |
/// | ``dataEncoding`` | ``DataEncoding/base64`` |
/// | ``dateEncoding`` | ``DateEncoding/deferredToDate``: seconds since 2001 |
/// | ``keyEncoding`` | ``KeyEncoding/useDefaultKeys`` |
/// | ``keyPathEncoding`` | ``KeyPathEncoding/brackets`` |
/// | ``nilEncoding`` | ``NilEncoding/dropKey`` |
/// | ``spaceEncoding`` | ``SpaceEncoding/percentEscaped`` |
/// | ``allowedCharacters`` | letters, digits, and `-._~/?` of US-ASCII |
public struct URLEncodedFormEncoder: Sendable {
    /// The error of a value that cannot be encoded.
    public enum Failure: Error, Hashable, Sendable {
        /// The value has no named parts.
        case invalidRootObject(String)
    }

    /// A Boolean value that indicates whether the pairs of each part are sorted by name. Elements of arrays keep their order.
    public let alphabetizeKeyValuePairs: Bool
    /// The name of an element of an array.
    public let arrayEncoding: ArrayEncoding
    /// The text of a Boolean value.
    public let boolEncoding: BoolEncoding
    /// The text of bytes.
    public let dataEncoding: DataEncoding
    /// The text of a date.
    public let dateEncoding: DateEncoding
    /// The form of a name.
    public let keyEncoding: KeyEncoding
    /// The name of a part of a part.
    public let keyPathEncoding: KeyPathEncoding
    /// The text of a missing value.
    public let nilEncoding: NilEncoding
    /// The text of a blank.
    public let spaceEncoding: SpaceEncoding
    /// The characters that are not percent-encoded.
    public let allowedCharacters: Set<Unicode.Scalar>

    /// An encoder. The table lists the defaults.
    public init(
        alphabetizeKeyValuePairs: Bool = true,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dataEncoding: DataEncoding = .base64,
        dateEncoding: DateEncoding = .deferredToDate,
        keyEncoding: KeyEncoding = .useDefaultKeys,
        keyPathEncoding: KeyPathEncoding = .brackets,
        nilEncoding: NilEncoding = .dropKey,
        spaceEncoding: SpaceEncoding = .percentEscaped,
        allowedCharacters: Set<Unicode.Scalar>? = nil
    ) {
        self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dataEncoding = dataEncoding
        self.dateEncoding = dateEncoding
        self.keyEncoding = keyEncoding
        self.keyPathEncoding = keyPathEncoding
        self.nilEncoding = nilEncoding
        self.spaceEncoding = spaceEncoding
        self.allowedCharacters = allowedCharacters ?? QueryEscaping.allowed
    }

    /// The value as text.
    ///
    /// - Throws: ``Failure`` if the value has no named parts, and errors of the value.
    public func encode(_ value: some Encodable) throws -> String {
        let root = FormNode()
        try root.encode(value, at: [], self)
        var pairs: [(name: String, value: String)] = []
        switch root.content {
        case .object: write(root, named: "", into: &pairs)
        case .none: break
        default: throw Failure.invalidRootObject("the top level must have named parts, but is \(type(of: value))")
        }
        return pairs.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
    }

    /// The value as bytes.
    public func encodeBytes(_ value: some Encodable) throws -> [UInt8] { Array(try encode(value).utf8) }

    private func write(_ node: FormNode, named name: String, into pairs: inout [(name: String, value: String)]) {
        switch node.content {
        case .none: break
        case .text(let text): pairs.append((name, text))
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                write(element, named: arrayEncoding.encode(name, atIndex: index), into: &pairs)
            }
        case .object(let parts):
            let named = parts.map { (keyEncoding.encode($0.key), $0.node) }
            for (key, node) in alphabetizeKeyValuePairs ? named.sorted(by: { $0.0 < $1.0 }) : named {
                write(node, named: name.isEmpty ? key : name + keyPathEncoding.encode(key), into: &pairs)
            }
        }
    }

    private func escape(_ text: String) -> String {
        guard spaceEncoding == .plusReplaced else { return QueryEscaping.escape(text, allowed: allowedCharacters) }
        let words = text.split(at: " ", omittingEmptySubsequences: false)
        return words.map { QueryEscaping.escape(String($0), allowed: allowedCharacters) }.joined(separator: "+")
    }
}
