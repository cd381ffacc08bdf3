import LinuxSupport

/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field.
///
/// Source: RFC 9110, section 11.
struct OfferedScheme: Hashable, Sendable {
    /// The scheme in lower case, for example `digest`.
    let scheme: String
    /// The parameters by their names in lower case. The first of two parameters with one name counts.
    let parameters: [String: String]

    /// Returns the challenges of a field in their order. A field may contain several challenges, separated by commas like their parameters.
    static func challenges(in field: String) -> [OfferedScheme] {
        var challenges: [OfferedScheme] = []
        var scheme: String?
        var parameters: [String: String] = [:]
        func finish() {
            if let scheme { challenges.append(OfferedScheme(scheme: scheme, parameters: parameters)) }
            parameters = [:]
        }
        for element in FieldElements(field) {
            if let first = element.scheme, !first.isEmpty {
                finish()
                scheme = first.lowercased()
            }
            if let (name, value) = element.parameter, parameters[name.lowercased()] == nil {
                parameters[name.lowercased()] = value
            }
        }
        finish()
        return challenges
    }
}

/// The elements of a list of challenges: `Scheme`, `Scheme name=value`, `Scheme token68` or `name=value`.
private struct FieldElements: Sequence, IteratorProtocol {
    struct Element {
        var scheme: String?
        var parameter: (name: String, value: String)?
    }

    private var rest: ArraySlice<UInt8>

    init(_ field: String) {
        rest = Array(field.utf8)[...]
    }

    mutating func next() -> Element? {
        skip(" \t,")
        guard !rest.isEmpty else { return nil }
        var element = Element()
        let word = token()
        if parameterFollows() {
            element.parameter = (word, value())
        } else {
            element.scheme = word
            skip(" \t")
            let start = rest
            let name = token()
            if !name.isEmpty, parameterFollows() {
                element.parameter = (name, value())
            } else {
                // Another scheme's credentials in one word (token68), which no scheme here uses.
                rest = start
            }
        }
        // Whatever is left of a damaged element is skipped, with its quoted texts.
        while let byte = rest.first, byte != UInt8(ascii: ",") {
            if byte == UInt8(ascii: "\"") { _ = quoted() } else { rest.removeFirst() }
        }
        return element
    }

    private mutating func skip(_ bytes: String) {
        rest = rest.drop { bytes.utf8.contains($0) }
    }

    /// Reads a token (RFC 9110, section 5.6.2).
    private mutating func token() -> String {
        let bytes = rest.prefix { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
        }
        rest = rest.dropFirst(bytes.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads an equals sign and the white space around it. The padding of token68 is no such sign: a comma or the end follows it.
    private mutating func parameterFollows() -> Bool {
        let start = rest
        skip(" \t")
        guard rest.first == UInt8(ascii: "=") else {
            rest = start
            return false
        }
        rest.removeFirst()
        skip(" \t")
        if rest.isEmpty || rest.first == UInt8(ascii: ",") || rest.first == UInt8(ascii: "=") {
            rest = start
            return false
        }
        return true
    }

    private mutating func value() -> String {
        rest.first == UInt8(ascii: "\"") ? quoted() : token()
    }

    /// Reads a quoted string (RFC 9110, section 5.6.4).
    private mutating func quoted() -> String {
        var bytes: [UInt8] = []
        rest.removeFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
