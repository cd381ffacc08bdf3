/// What a poll came to.
struct PollResult {
    /// The verdict that decides: a satisfied one if any may be, otherwise that which explains most; nil without any.
    let deciding: Verdict?
    var supportsIPv4 = false
    var supportsIPv6 = false
    /// IPv6 was not asked about, because IPv4 had decided.
    var leavesIPv6Open = false
    /// When to ask again although nothing will be announced.
    var lifetime: Duration?

    init(deciding: Verdict?) {
        self.deciding = deciding
    }
}
