import ServerTrust

/// What came of judging a server.
struct TrustJudgement: Sendable {
    /// Nil if it is trusted.
    let reason: TrustFailure?
    /// Nil if there is none.
    let chain: ValidatedChain?
    /// The pattern of the policy file that decides; nil if there is none.
    let pattern: String?
    let checks: [TrustCheck]
}
