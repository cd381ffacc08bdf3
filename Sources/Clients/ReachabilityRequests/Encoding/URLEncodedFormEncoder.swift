import LinuxSupport

/// Writes a value with named parts as names and values, `a=1&b%5B%5D=2`.
///
/// | Setting | Default |
/// |---|---|
/// | ``alphabetizeKeyValuePairs`` | true: the same value is the same text each time |
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
    /// Why a value cannot be written so.
    public enum Failure: Error, Hashable, Sendable {
        /// The value has no named parts.
        case invalidRootObject(String)
    }

    /// Whether pairs are sorted by their names, in each part for itself. What is in an array keeps its order.
    public let alphabetizeKeyValuePairs: Bool
    /// How the name of an element of an array is made.
    public let arrayEncoding: ArrayEncoding
    /// How a truth value is written.
    public let boolEncoding: BoolEncoding
    /// How bytes are written.
    public let dataEncoding: DataEncoding
    /// How a point in time is written.
    public let dateEncoding: DateEncoding
    /// How a name is written.
    public let keyEncoding: KeyEncoding
    /// How the name of a part of a part is made.
    public let keyPathEncoding: KeyPathEncoding
    /// How an absent value is written.
    public let nilEncoding: NilEncoding
    /// How a blank is written.
    public let spaceEncoding: SpaceEncoding
    /// What is written as it is; everything else is percent-encoded.
    public let allowedCharacters: Set<Unicode.Scalar>

    /// See the table.
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
    /// - Throws: ``Failure`` where the value has no named parts, and whatever the value throws.
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
