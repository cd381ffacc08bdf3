/// A parsed JSON text from another machine (RFC 8259). Values may be nested up to 16 levels deep.
package enum JSONValue: Hashable, Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    /// A number, as its JSON text.
    case number(String)
    case bool(Bool)
    case null

    /// Parses a text. Returns nil unless the bytes are exactly one JSON value in UTF-8.
    package init?(_ bytes: [UInt8]) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var reader = Reader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipBlanks()
        guard reader.isAtEnd else { return nil }
        self = value
    }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var truth: Bool? { if case .bool(let truth) = self { truth } else { nil } }

    /// The value as a non-negative integer; nil for any other value.
    package var count: UInt64? { if case .number(let text) = self { UInt64(text) } else { nil } }
}

extension JSONValue {
    private struct Reader {
        let bytes: [UInt8]
        var index = 0

        var isAtEnd: Bool { index == bytes.count }
        var current: UInt8? { isAtEnd ? nil : bytes[index] }

        mutating func take(_ byte: UInt8) -> Bool {
            guard current == byte else { return false }
            index += 1
            return true
        }

        mutating func take(_ word: StaticString, _ value: JSONValue) -> JSONValue? {
            for byte in word.description.utf8 { guard take(byte) else { return nil } }
            return value
        }

        mutating func skipBlanks() {
            while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { index += 1 }
        }

        mutating func value(depth: Int) -> JSONValue? {
            guard depth < 16 else { return nil }
            skipBlanks()
            switch current {
            case UInt8(ascii: "{"): return object(depth: depth)
            case UInt8(ascii: "["): return array(depth: depth)
            case UInt8(ascii: "\""): return string().map(JSONValue.string)
            case UInt8(ascii: "t"): return take("true", .bool(true))
            case UInt8(ascii: "f"): return take("false", .bool(false))
            case UInt8(ascii: "n"): return take("null", .null)
            default: return number()
            }
        }

        /// Parses an object. If a key occurs twice, the last member is used.
        mutating func object(depth: Int) -> JSONValue? {
            var members: [String: JSONValue] = [:]
            index += 1
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object([:]) }
            while true {
                skipBlanks()
                guard current == UInt8(ascii: "\""), let key = string() else { return nil }
                skipBlanks()
                guard take(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
                members[key] = value
                skipBlanks()
                if take(UInt8(ascii: "}")) { return .object(members) }
                guard take(UInt8(ascii: ",")) else { return nil }
            }
        }

        mutating func array(depth: Int) -> JSONValue? {
            var values: [JSONValue] = []
            index += 1
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array([]) }
            while true {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
                skipBlanks()
                if take(UInt8(ascii: "]")) { return .array(values) }
                guard take(UInt8(ascii: ",")) else { return nil }
            }
        }

        mutating func digits() -> Int {
            let start = index
            while let byte = current, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { index += 1 }
            return index - start
        }

        mutating func number() -> JSONValue? {
            let start = index
            _ = take(UInt8(ascii: "-"))
            let startsWithZero = current == UInt8(ascii: "0")
            let count = digits()
            guard count > 0, !startsWithZero || count == 1 else { return nil }
            if take(UInt8(ascii: ".")), digits() == 0 { return nil }
            if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
                _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
                if digits() == 0 { return nil }
            }
            return .number(String(decoding: bytes[start..<index], as: UTF8.self))
        }

        mutating func string() -> String? {
            var units: [UInt8] = []
            index += 1
            while let byte = current {
                index += 1
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: units, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let scalar = escaped() else { return nil }
                    units += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
                case 0..<0x20: return nil
                default: units.append(byte)
                }
            }
            return nil
        }

        mutating func escaped() -> Unicode.Scalar? {
            guard let byte = current else { return nil }
            index += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{c}"
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "u"): break
            default: return nil
            }
            guard let first = hexadecimal() else { return nil }
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xdc00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let second = hexadecimal(),
                0xdc00..<0xe000 ~= second
            else { return nil }
            return Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
        }

        mutating func hexadecimal() -> UInt32? {
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
                code = code << 4 | UInt32(digit)
                index += 1
            }
            return code
        }
    }
}
