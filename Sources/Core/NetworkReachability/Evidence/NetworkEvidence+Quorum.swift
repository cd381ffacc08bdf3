extension NetworkEvidence {
    /// The vote of one family on the network at large, which is reachable when one of both is won.
    public struct Quorum: Hashable, Sendable {
        /// Whether it is the vote of IPv6.
        public var isIPv6: Bool

        /// How many addresses have a vote.
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
