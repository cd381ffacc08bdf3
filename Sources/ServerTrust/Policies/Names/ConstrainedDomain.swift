/// A host name as constraints compare it: its letters with a dot in front, so that what is below another ends in it.
struct ConstrainedDomain: Hashable {
    private let letters: [UInt8]

    /// Nil when the text is no host name.
    init?(_ text: some StringProtocol) {
        guard let name = DNSName(ascii: String(text), allowsFinalDot: true) else { return nil }
        letters = Array(".\(name)".utf8)
    }

    /// Whether this is a proper subdomain of another.
    func isBelow(_ other: ConstrainedDomain) -> Bool {
        letters.count > other.letters.count && letters.suffix(other.letters.count).elementsEqual(other.letters)
    }
}
