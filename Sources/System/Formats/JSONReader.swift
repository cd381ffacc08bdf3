/// A strict JSON parser (RFC 8259). It accepts only UTF-8, keeps the position of each value, and refuses text after the end.
/// The members of an object keep their order, also if a key occurs twice. Foundation's parser does not report positions.
package struct JSONReader {
    private static let maximumDepth = 16
    private static let escapes: [UInt8: Unicode.Scalar] = [
        UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
        UInt8(ascii: "f"): "\u{c}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
    ]

    private let bytes: [UInt8]
    private var index = 0
    private var position = TextPosition()

    /// Parses a complete text.
    package static func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONNode {
        var reader = JSONReader(bytes: bytes)
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONFault("the file is not in UTF-8", at: reader.position)
        }
        let node = try reader.value(depth: 0)
        try reader.skipBlanks()
        guard reader.index == bytes.count else { throw reader.fault("unexpected text after the end of the object") }
        return node
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func value(depth: Int) throws(JSONFault) -> JSONNode {
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

    private mutating func members(depth: Int) throws(JSONFault) -> [JSONNode.Member] {
        var members: [JSONNode.Member] = []
        advance()
        try skipBlanks()
        if take(UInt8(ascii: "}")) { return [] }
        while true {
            try skipBlanks()
            let start = position
            guard current == UInt8(ascii: "\"") else { throw fault("a key in quotation marks is missing") }
            let key = try string()
            try skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing after the key \"\(key)\"") }
            members.append(JSONNode.Member(key: key, position: start, node: try value(depth: depth + 1)))
            try skipBlanks()
            if take(UInt8(ascii: "}")) { return members }
            guard take(UInt8(ascii: ",")) else { throw fault("a comma or } is missing") }
        }
    }

    private mutating func elements(depth: Int) throws(JSONFault) -> [JSONNode] {
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
    private mutating func word() throws(JSONFault) -> JSONNode.Value {
        let (start, first) = (position, index)
        while let byte = current, Self.isOfWord(byte) { advance() }
        let text = String(decoding: bytes[first..<index], as: UTF8.self)
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        case "" where index == bytes.count: throw JSONFault("the file ends too early", at: start)
        case "": throw JSONFault("a value is missing", at: start)
        default:
            guard Self.isNumber(bytes[first..<index]) else {
                throw JSONFault("\(text) is not a value; strings need quotation marks", at: start)
            }
            return .number(text)
        }
    }

    /// Returns whether the bytes are a number (RFC 8259, section 6).
    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        func take(_ bytes: String) -> Bool {
            guard let first = rest.first, bytes.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func takeDigits() -> Int {
            let count = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
            rest = rest.dropFirst(count)
            return count
        }
        _ = take("-")
        let startsWithZero = rest.first == UInt8(ascii: "0")
        let count = takeDigits()
        guard count > 0, !startsWithZero || count == 1 else { return false }
        if take("."), takeDigits() == 0 { return false }
        if take("eE") {
            _ = take("+-")
            if takeDigits() == 0 { return false }
        }
        return rest.isEmpty
    }

    private mutating func string() throws(JSONFault) -> String {
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
        throw JSONFault("the string has no closing quotation mark", at: start)
    }

    private mutating func escaped() throws(JSONFault) -> Unicode.Scalar {
        if let byte = current, let scalar = Self.escapes[byte] {
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

    private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
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

    private mutating func skipBlanks() throws(JSONFault) {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { advance() }
        if current == UInt8(ascii: "/") || current == UInt8(ascii: "#") { throw fault("JSON has no comments") }
    }

    private func fault(_ problem: String) -> JSONFault { JSONFault(problem, at: position) }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || "+-._".utf8.contains(byte) || UnicodeScalar(byte).properties.isAlphabetic
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A value of a JSON text (RFC 8259), with its position for error messages.
package struct JSONNode: Sendable {
    package indirect enum Value: Sendable {
        case object([Member])
        case array([JSONNode])
        case string(String)
        /// The number as it is written.
        case number(String)
        case bool(Bool)
        case null
    }

    package struct Member: Sendable {
        package let key: String
        /// The position of the key.
        package let position: TextPosition
        package let node: JSONNode
    }

    package let value: Value
    package let position: TextPosition
}

/// A position in a text.
package struct TextPosition: Hashable, Sendable {
    /// The line, from 1.
    package var line = 1
    /// The column in bytes, from 1.
    package var column = 1
}

/// The first error in a JSON text.
package struct JSONFault: Error {
    package let problem: String
    package let position: TextPosition

    fileprivate init(_ problem: String, at position: TextPosition) {
        (self.problem, self.position) = (problem, position)
    }
}
