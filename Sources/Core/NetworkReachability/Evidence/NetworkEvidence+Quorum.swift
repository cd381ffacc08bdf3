extension NetworkEvidence {
    /// How one family stands on the network at large, which is reachable when one of both has its quorum.
    public struct Quorum: Hashable, Sendable {
        /// Whether this is about IPv6.
        public var isIPv6: Bool

        /// How many addresses stand for it.
        public var addresses: Int

        /// How many of them can be reached.
        public var reachable: Int

        /// How many are needed: more than half.
        public var needed: Int

        /// Whether enough can be reached.
        public var isReached: Bool { reachable >= needed }
    }
}

extension NetworkEvidence.Quorum: CustomStringConvertible {
    /// For example `IPv4 8 of 8`.
    public var description: String { "\(isIPv6 ? "IPv6" : "IPv4") \(reachable) of \(addresses)" }
}
