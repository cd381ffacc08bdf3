public import NetworkReachability

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

extension NetworkEvidence {
    /// What becomes of packets of one family to a target that has addresses of both.
    public struct Family: Hashable, Sendable {
        /// Whether it is IPv6.
        public var isIPv6: Bool

        /// Why the target cannot be reached over it; nil when it can.
        public var reason: NetworkPath.UnsatisfiedReason?

        /// Whether it can be reached over it.
        public var isReachable: Bool { reason == nil }
    }
}

extension EvidenceFacts {
    /// Both families, IPv4 first; empty where the target has addresses of one only.
    var families: [NetworkEvidence.Family] {
        let families = [false, true].compactMap { isIPv6 -> NetworkEvidence.Family? in
            let candidates = candidates.filter { $0.address.isIPv6 == isIPv6 }
            if candidates.isEmpty { return nil }
            let quorum = quorums.first { $0.isIPv6 == isIPv6 }
            if quorum?.isReached ?? candidates.contains(where: \.isReachable) { return .init(isIPv6: isIPv6) }
            let reasons = Set(candidates.compactMap(\.reason))
            let worst = Verdict.Cause.allCases.last { reasons.contains($0.reason) }
            return .init(isIPv6: isIPv6, reason: worst?.reason ?? .refused)
        }
        return families.count == 2 ? families : []
    }

    /// Over which families the target can be reached, where it has addresses of both; nil elsewhere, and where it cannot be.
    var familyNote: String? {
        if families.count == 2, families.allSatisfy(\.isReachable) { return "over IPv4 and IPv6" }
        guard let alive = families.first(where: \.isReachable), let dead = families.first(where: { !$0.isReachable }),
            let reason = dead.reason
        else { return nil }
        func name(_ family: NetworkEvidence.Family) -> String { family.isIPv6 ? "IPv6" : "IPv4" }
        return "over \(name(alive)) only (\(name(dead)): \(reason))"
    }
}
