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

    private var reader: FieldReader

    init(_ field: String) { reader = FieldReader(field) }

    mutating func next() -> Element? {
        repeat { reader.skipBlanks() } while reader.take(",")
        guard !reader.isAtEnd else { return nil }
        var element = Element()
        let word = reader.token() ?? ""
        if parameterFollows() {
            element.parameter = (word, value())
        } else {
            element.scheme = word
            reader.skipBlanks()
            let start = reader
            if let name = reader.token(), parameterFollows() {
                element.parameter = (name, value())
            } else {
                // Another scheme's credentials in one word (token68), which no scheme here uses.
                reader = start
            }
        }
        // Whatever is left of a damaged element is skipped, with its quoted texts.
        while !reader.isAtEnd, !reader.isAt(",") { if reader.quoted(mayBeOpen: true) == nil { reader.skip() } }
        return element
    }

    /// Reads an equals sign and the white space around it. The padding of token68 is no such sign: a comma or the end follows it.
    private mutating func parameterFollows() -> Bool {
        let start = reader
        reader.skipBlanks()
        if reader.take("=") {
            reader.skipBlanks()
            if !reader.isAtEnd, !reader.isAt(","), !reader.isAt("=") { return true }
        }
        reader = start
        return false
    }

    private mutating func value() -> String { reader.quoted(mayBeOpen: true) ?? reader.token() ?? "" }
}
