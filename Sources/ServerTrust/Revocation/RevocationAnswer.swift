/// What a signed statement says about a certificate.
struct RevocationAnswer: Hashable, Sendable {
    /// Nil is good.
    let record: RevocationRecord?

    /// From thisUpdate to nextUpdate: when it may be said again without asking. Nil if it may not.
    let validity: ClosedRange<TrustTime>?

    init(_ record: RevocationRecord?, from start: TrustTime, to end: TrustTime?, at time: TrustTime) {
        self.record = record
        validity = end.flatMap { end in start <= time && time <= end ? start...end : nil }
    }

    var finding: RevocationFinding { record.map { .revoked($0) } ?? .good }
}
