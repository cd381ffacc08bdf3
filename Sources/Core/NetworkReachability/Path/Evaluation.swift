/// A path, and how long it holds if nothing is announced.
struct Evaluation: Hashable, Sendable {
    var path: NetworkPath
    /// Whether IPv6 was left out because IPv4 had decided; `supportsIPv6` then says nothing.
    var leavesIPv6Open = false
    /// When to evaluate again although no event will come; nil for never.
    var lifetime: Duration?
}
