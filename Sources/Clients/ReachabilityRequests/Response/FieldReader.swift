import ReachabilityRetry

/// Reads a field value from left to right (RFC 9110, section 5.6).
struct FieldReader {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = Array(text.utf8)[...]
        skipBlanks()
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipBlanks() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// Takes one character, if it is next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// RFC 9110, section 5.6.2.
    mutating func token() -> String? {
        let token = rest.prefix { $0.isOfToken }
        guard !token.isEmpty else { return nil }
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// RFC 9110, section 5.6.4.
    mutating func quoted() -> String? {
        var reader = self
        guard reader.take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = reader.rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                self = reader
                return String(decoding: bytes, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                guard let next = reader.rest.popFirst() else { return nil }
                bytes.append(next)
            } else {
                bytes.append(byte)
            }
        }
        return nil
    }

    /// A number that is not negative; nil where there is none, or it is too large.
    mutating func number() -> Int64? {
        let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard !digits.isEmpty, let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// `; name=value`, the name in small letters.
    mutating func parameter() -> (name: String, value: String)? {
        skipBlanks()
        while take(";") { skipBlanks() }
        guard let name = token(), take("="), let value = quoted() ?? token() else { return nil }
        return (name.lowercased(), value)
    }
}
