/// A domain name (RFC 1035, section 3.1): labels of 1 to 63 bytes, 255 on the wire. Bytes of A to Z and a to z are the same.
package struct DNSName: Sendable {
    package let labels: [[UInt8]]

    package static let maximumLabel = 63
    package static let maximumLength = 255

    /// Nil if a label is empty or too long, or the name is.
    package init?(labels: [[UInt8]]) {
        guard labels.allSatisfy({ (1...Self.maximumLabel).contains($0.count) }) else { return nil }
        guard labels.reduce(1, { $0 + $1.count + 1 }) <= Self.maximumLength else { return nil }
        self.labels = labels
    }

    /// Reads a name without escapes; a dot may stand at its end.
    package init?(_ text: String) {
        if text == "." || text.isEmpty {
            self.init(labels: [])
            return
        }
        let text = text.hasSuffix(".") ? text.dropLast() : text[...]
        self.init(
            labels: text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        )
    }

    /// As it stands in a question, without compression.
    package var bytes: [UInt8] {
        labels.flatMap { [UInt8($0.count)] + $0 } + [0]
    }
}

extension DNSName: Hashable {
    private var folded: [[UInt8]] {
        labels.map { $0.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 } }
    }

    package static func == (one: DNSName, other: DNSName) -> Bool { one.folded == other.folded }

    package func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension DNSName: CustomStringConvertible {
    /// Without a dot at its end; the root is `.`. What is no letter, digit, hyphen or underscore is written as `\DDD`.
    package var description: String {
        if labels.isEmpty { return "." }
        return labels.map { $0.map(Self.text).joined() }.joined(separator: ".")
    }

    private static func text(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            String(UnicodeScalar(byte))
        default:
            "\\" + (byte < 10 ? "00" : byte < 100 ? "0" : "") + String(byte)
        }
    }
}
