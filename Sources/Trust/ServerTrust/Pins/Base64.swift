/// Bytes as text (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let filling = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                let digit = alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)]
                text.append(place <= group.count ? digit : filling)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil when there is anything but whole groups of the alphabet.
    package static func decode(_ text: Substring) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let digits = characters.reversed().drop { $0 == filling }.reversed()
        guard characters.count - digits.count <= 2 else { return nil }
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for character in digits {
            guard let digit = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 6 | UInt32(digit)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }
}
