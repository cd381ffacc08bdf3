import Netlink

/// What a poll came to.
struct PollResult {
    /// Those that decided: satisfied ones if any may be, otherwise all that were not.
    var verdicts: [Verdict]
    var isSatisfied: Bool
    var supportsIPv4 = false
    var supportsIPv6 = false
    /// IPv6 was not asked about, because IPv4 had decided.
    var leavesIPv6Open = false
    /// When to ask again although nothing will be announced.
    var lifetime: Duration?

    init(_ verdicts: [Verdict], isSatisfied: Bool) {
        self.verdicts = verdicts
        self.isSatisfied = isSatisfied
    }
}
