extension NetworkEvidence {
    /// One of the addresses that were judged.
    public struct Candidate: Hashable, Sendable {
        /// The address.
        public var address: IPAddress

        /// Why packets do not get there; nil when they do.
        public var reason: NetworkPath.UnsatisfiedReason?

        /// Whether the rest of the evidence is about this address.
        public var isDeciding: Bool

        /// Whether packets get there.
        public var isReachable: Bool { reason == nil }
    }
}
