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

    /// A Boolean value that indicates whether the pairs of each part are sorted, as in Alamofire. If false, they keep their order, for
    /// example that of an array.
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

    /// Creates an encoder. The table lists the defaults.
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

    /// Returns the value as text.
    ///
    /// - Throws: ``Failure`` if the value has no named parts, and errors of the value.
    public func encode(_ value: some Encodable) throws -> String {
        let root = FormNode()
        try root.encode(value, at: [], self)
        switch root.content {
        case .object: return text(of: root, named: "") ?? ""
        case .none: return ""
        default: throw Failure.invalidRootObject("the top level must have named parts, but is \(type(of: value))")
        }
    }

    /// Returns the value as bytes.
    public func encodeBytes(_ value: some Encodable) throws -> [UInt8] { Array(try encode(value).utf8) }

    /// Returns the pairs of a part; nil if there are none.
    private func text(of node: FormNode, named name: String) -> String? {
        let segments: [String?] =
            switch node.content {
            case .none: []
            case .text(let text): ["\(escape(name))=\(escape(text))"]
            case .array(let elements):
                elements.enumerated().map { text(of: $1, named: arrayEncoding.encode(name, atIndex: $0)) }
            case .object(let parts):
                parts.map { part in
                    let key = keyEncoding.encode(part.key)
                    return text(of: part.node, named: name.isEmpty ? key : name + keyPathEncoding.encode(key))
                }
            }
        let known = segments.compactMap(\.self)
        return known.isEmpty ? nil : (alphabetizeKeyValuePairs ? known.sorted() : known).joined(separator: "&")
    }

    private func escape(_ text: String) -> String {
        guard spaceEncoding == .plusReplaced else { return QueryEscaping.escape(text, allowed: allowedCharacters) }
        let words = text.split(at: " ", omittingEmptySubsequences: false)
        return words.map { QueryEscaping.escape(String($0), allowed: allowedCharacters) }.joined(separator: "+")
    }
}
