/// A strict JSON parser (RFC 8259) for policy files. It accepts only UTF-8, and refuses duplicate keys and text after
/// the end. Foundation's parser keeps one of two equal keys, and does not report positions.
struct JSONReader {
    private static let maximumDepth = 16

    private let bytes: [UInt8]
    private var index = 0
    private var position = TextPosition()

    /// Parses a complete text.
    static func read(_ bytes: [UInt8]) throws(PolicyFileError) -> JSONNode {
        var reader = JSONReader(bytes: bytes)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw PolicyFileError("the file is not in UTF-8", at: reader.position)
        }
        let node = try reader.value(depth: 0)
        try reader.skipBlanks()
        guard reader.index == bytes.count else { throw reader.fault("unexpected text after the end of the object") }
        return node
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func value(depth: Int) throws(PolicyFileError) -> JSONNode {
        try skipBlanks()
        let start = position
        guard depth < Self.maximumDepth else {
            throw fault("values are nested more than \(Self.maximumDepth) levels deep")
        }
        let value: JSONNode.Value
        switch current {
        case UInt8(ascii: "{"): value = .object(try members(depth: depth))
        case UInt8(ascii: "["): value = .array(try elements(depth: depth))
        case UInt8(ascii: "\""): value = .string(try string())
        default: value = try word()
        }
        return JSONNode(value: value, position: start)
    }

    private mutating func members(depth: Int) throws(PolicyFileError) -> [JSONNode.Member] {
        var members: [JSONNode.Member] = []
        var keys: Set<String> = []
        advance()
        try skipBlanks()
        if take(UInt8(ascii: "}")) { return [] }
        while true {
            try skipBlanks()
            let start = position
            guard current == UInt8(ascii: "\"") else { throw fault("a key in quotation marks is missing") }
            let key = try string()
            guard keys.insert(key).inserted else {
                throw PolicyFileError("the key \"\(key)\" is duplicated", at: start)
            }
            try skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing after the key \"\(key)\"") }
            members.append(JSONNode.Member(key: key, position: start, node: try value(depth: depth + 1)))
            try skipBlanks()
            if take(UInt8(ascii: "}")) { return members }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or } is missing") }
        }
    }

    private mutating func elements(depth: Int) throws(PolicyFileError) -> [JSONNode] {
        var elements: [JSONNode] = []
        advance()
        try skipBlanks()
        if take(UInt8(ascii: "]")) { return [] }
        while true {
            elements.append(try value(depth: depth + 1))
            try skipBlanks()
            if take(UInt8(ascii: "]")) { return elements }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or ] is missing") }
        }
    }

    /// Parses `true`, `false`, `null` or a number.
    private mutating func word() throws(PolicyFileError) -> JSONNode.Value {
        let start = position
        var text = ""
        while let byte = current, Self.isOfWord(byte) {
            text.unicodeScalars.append(Unicode.Scalar(byte))
            advance()
        }
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "" where index == bytes.count: throw PolicyFileError("the file ends too early", at: start)
        case "": throw PolicyFileError("a value is missing", at: start)
        default:
            guard text.wholeMatch(of: #/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/#) != nil else {
                throw PolicyFileError("\(text) is not a value; strings need quotation marks", at: start)
            }
            return .number(text)
        }
    }

    private mutating func string() throws(PolicyFileError) -> String {
        let start = position
        var units: [UInt8] = []
        advance()
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                advance()
                return String(decoding: units, as: UTF8.self)
            case UInt8(ascii: "\\"):
                advance()
                units += String(try escaped()).utf8
            case 0..<0x20:
                throw fault("a string may not contain a control character; escape it")
            default:
                units.append(byte)
                advance()
            }
        }
        throw PolicyFileError("the string has no closing quotation mark", at: start)
    }

    private mutating func escaped() throws(PolicyFileError) -> Unicode.Scalar {
        let escapes: [UInt8: Unicode.Scalar] = [
            UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
            UInt8(ascii: "f"): "\u{c}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
        ]
        if let byte = current, let scalar = escapes[byte] {
            advance()
            return scalar
        }
        guard take(UInt8(ascii: "u")) else { throw fault("the escape sequence is unknown; write \\\\ for a backslash") }
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        // The high half of a surrogate pair.
        if (0xd800..<0xdc00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) {
            let second = try hexadecimal()
            if (0xdc00..<0xe000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
            {
                return scalar
            }
        }
        throw fault("a lone surrogate is not a character")
    }

    private mutating func hexadecimal() throws(PolicyFileError) -> UInt32 {
        let digits = bytes[index...].prefix(4)
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == 4, text.allSatisfy(\.isHexDigit), let code = UInt32(text, radix: 16) else {
            throw fault("four hexadecimal digits are missing after \\u")
        }
        for _ in 0..<4 { advance() }
        return code
    }
}

// MARK: - Bytes

extension JSONReader {
    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func advance() {
        if current == UInt8(ascii: "\n") {
            position.line += 1
            position.column = 1
        } else {
            position.column += 1
        }
        index += 1
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        advance()
        return true
    }

    private mutating func skipBlanks() throws(PolicyFileError) {
        while let byte = current, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { advance() }
        if current == UInt8(ascii: "/") || current == UInt8(ascii: "#") { throw fault("JSON has no comments") }
    }

    private func fault(_ problem: String) -> PolicyFileError { PolicyFileError(problem, at: position) }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || "+-._".utf8.contains(byte) || UnicodeScalar(byte).properties.isAlphabetic
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A value of a JSON text (RFC 8259), with its position for error messages.
struct JSONNode: Sendable {
    indirect enum Value: Sendable {
        case object([Member])
        case array([JSONNode])
        case string(String)
        /// The number as it is written.
        case number(String)
        case bool(Bool)
        case null
    }

    struct Member: Sendable {
        let key: String
        /// The position of the key.
        let position: TextPosition
        let node: JSONNode
    }

    let value: Value
    let position: TextPosition

    /// The name of the type for error messages.
    var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool(let value): "\(value)"
        case .null: "null"
        }
    }
}

/// A position in a text.
struct TextPosition: Hashable, Sendable {
    /// The line, from 1.
    var line = 1
    /// The column in bytes, from 1.
    var column = 1
}

/// An error in a policy file, with its position.
struct PolicyFileError: Error {
    let position: TextPosition
    let problem: String
    /// A Boolean value that indicates whether the cause is another file that cannot be read.
    var isUnreadable = false

    init(_ problem: String, at position: TextPosition, isUnreadable: Bool = false) {
        self.problem = problem
        self.position = position
        self.isUnreadable = isUnreadable
    }
}

/// A reader of the members of an object by key. It refuses unknown keys.
struct JSONObjectReader {
    /// The name of the object in error messages, for example `a policy of the kind "pins"`.
    private(set) var name: String
    let position: TextPosition
    private let members: [JSONNode.Member]

    init(_ node: JSONNode, name: String) throws(PolicyFileError) {
        guard case .object(let members) = node.value else {
            throw PolicyFileError("\(name) must be an object, not \(node.kind)", at: node.position)
        }
        self.name = name
        self.members = members
        position = node.position
    }

    /// Returns the same object with another name for error messages.
    func named(_ name: String) -> JSONObjectReader {
        var object = self
        object.name = name
        return object
    }

    /// Checks that the object has no other keys.
    ///
    /// - Throws: An error that contains all unknown keys.
    func allow(_ keys: [String]) throws(PolicyFileError) {
        let unknown = members.filter { !keys.contains($0.key) }
        guard let first = unknown.first else { return }
        let names = unknown.map { "\"\($0.key)\"" }.joined(separator: ", ")
        throw PolicyFileError(
            "\(name) has no \(unknown.count == 1 ? "key" : "keys") \(names); the keys are \(keys.joined(separator: ", "))",
            at: first.position
        )
    }

    func node(_ key: String) -> JSONNode? { members.first { $0.key == key }?.node }

    func required(_ key: String) throws(PolicyFileError) -> JSONNode {
        guard let node = node(key) else { throw PolicyFileError("\(name) requires the key \"\(key)\"", at: position) }
        return node
    }

    func bool(_ key: String, default otherwise: Bool) throws(PolicyFileError) -> Bool {
        guard let node = node(key) else { return otherwise }
        guard case .bool(let value) = node.value else {
            throw PolicyFileError("\"\(key)\" must be true or false, not \(node.kind)", at: node.position)
        }
        return value
    }

    func string(_ key: String) throws(PolicyFileError) -> (text: String, position: TextPosition)? {
        guard let node = node(key) else { return nil }
        guard case .string(let text) = node.value else {
            throw PolicyFileError("\"\(key)\" must be a string, not \(node.kind)", at: node.position)
        }
        return (text, node.position)
    }

    /// Returns an array of strings, each with its position; nil if the key is missing.
    func strings(_ key: String) throws(PolicyFileError) -> [(text: String, position: TextPosition)]? {
        guard let node = node(key) else { return nil }
        guard case .array(let elements) = node.value else {
            throw PolicyFileError("\"\(key)\" must be an array of strings, not \(node.kind)", at: node.position)
        }
        var texts: [(String, TextPosition)] = []
        for element in elements {
            guard case .string(let text) = element.value else {
                throw PolicyFileError("\"\(key)\" must contain only strings, not \(element.kind)", at: element.position)
            }
            texts.append((text, element.position))
        }
        return texts
    }

    /// The members in the order of the file.
    var all: [JSONNode.Member] { members }
}
