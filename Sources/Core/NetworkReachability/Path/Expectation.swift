import LinuxPrimitives

/// What the next answers are likely to be, learned from the last: it saves rounds of questions where it is right, and is
/// never an answer itself.
struct Expectation: Hashable, Sendable {
    /// The links that packets left through lately, the latest first.
    private(set) var links: [UInt32] = []
    /// The source address that IPv4 packets had last.
    private var source: WireAddress?
    /// Whether the next answers are likely to be as the last.
    var isLikely = true
    /// Whether IPv6 led anywhere when it was last asked about; true until then.
    var leadsOverIPv6 = true

    private static let linkLimit = 3

    /// The source address that IPv4 packets are likely to have.
    var expectedSource: WireAddress? { isLikely ? source : nil }

    mutating func note(link: UInt32, source: WireAddress) {
        if !links.contains(link) { links = [link] + links.prefix(Self.linkLimit - 1) }
        if source.family == .ipv4, !source.isLoopback { self.source = source }
    }
}
