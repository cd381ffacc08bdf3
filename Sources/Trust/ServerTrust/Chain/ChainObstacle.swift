/// What stood in the way of a chain, with how far it was built.
struct ChainObstacle: Error {
    /// Which of several is told: a whole chain that was refused says more than a search that ended nowhere, and when the search
    /// was broken off that is it.
    enum Rank: Int, Comparable {
        case none, deadEnd, forged, refused, limit

        static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
    }

    let failure: TrustFailure
    let chain: [TrustCertificate]
    let rank: Rank

    init(_ failure: TrustFailure, chain: [TrustCertificate], rank: Rank) {
        self.failure = failure
        self.chain = chain
        self.rank = rank
    }
}
