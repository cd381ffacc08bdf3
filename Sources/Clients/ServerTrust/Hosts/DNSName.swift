import LinuxSupport

/// A host name as it is compared: labels in lower case ASCII, A-labels for other scripts, no dot at the end (RFC 1034, 3.5; RFC 5890).
struct DNSName: Hashable, Sendable {
    let labels: [String]

    /// Nil when the text is no host name. A last label of digits alone is an address gone wrong (RFC 1123, 2.1).
    init?(_ text: String) {
        guard let ascii = IDNA.ascii(text) else { return nil }
        self.init(ascii: ascii, allowsFinalDot: true)
    }

    /// Labels that have been checked.
    init(checked labels: [String]) {
        self.labels = labels
    }

    init?(ascii: String, allowsFinalDot: Bool) {
        // Not after lowering: the Kelvin sign would become a k.
        guard (1...254).contains(ascii.utf8.count), ascii.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var labels = ascii.split(at: ".", omittingEmptySubsequences: false).map { $0.lowercased() }
        if allowsFinalDot, labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        let length = labels.reduce(labels.count - 1) { $0 + $1.utf8.count }
        guard length <= 253, labels.allSatisfy(Self.isLabel), let last = labels.last else { return nil }
        guard !last.utf8.allSatisfy({ Self.digits.contains($0) }), !Self.isHexadecimalNumber(last) else { return nil }
        self.labels = labels
    }

    /// Whether a dNSName of a certificate stands for this name (RFC 9525, 6.3): the same name, or `*` as the whole left-most label
    /// in the place of exactly one label of this. There must be two labels behind it: nobody owns a whole top-level domain.
    func isMatched(byCertificate pattern: String) -> Bool {
        if pattern.hasPrefix("*.") {
            guard let parent = DNSName(ascii: String(pattern.dropFirst(2)), allowsFinalDot: false) else { return false }
            return parent.labels.count >= 2 && labels.count == parent.labels.count + 1 && isBelow(parent)
        }
        return DNSName(ascii: pattern, allowsFinalDot: false) == self
    }

    /// Whether this is a proper subdomain of another.
    func isBelow(_ other: DNSName) -> Bool {
        labels.count > other.labels.count && labels.suffix(other.labels.count).elementsEqual(other.labels)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    /// Letters, digits, `-` and, though no host name should have it, `_`, which names in use have.
    private static func isLabel(_ label: String) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.utf8.allSatisfy { byte in
            digits.contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    /// `0x7f`, which `inet_aton(3)` takes for an address.
    private static func isHexadecimalNumber(_ label: String) -> Bool {
        label.hasPrefix("0x") && label.dropFirst(2).allSatisfy(\.isHexDigit)
    }
}

extension DNSName: CustomStringConvertible {
    var description: String { labels.joined(separator: ".") }
}
