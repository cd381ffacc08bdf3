/// What a signed statement says about a certificate.
struct RevocationAnswer: Hashable, Sendable {
    /// Nil is good.
    let record: RevocationRecord?

    /// Until nextUpdate, and from thisUpdate by the slower of two clocks: when it may be said again without asking. Nil if it may not.
    let validity: ClosedRange<TrustTime>?

    init(
        _ record: RevocationRecord?,
        from thisUpdate: TrustTime,
        to end: TrustTime?,
        at time: TrustTime,
        _ settings: RevocationSettings
    ) {
        self.record = record
        // A handshake that begins a second before its question is answered may remember the answer.
        let start = thisUpdate.advanced(by: .zero - settings.clockSkew)
        validity = end.flatMap { end in start <= time && time <= end ? start...end : nil }
    }

    var finding: RevocationFinding { record.map { .revoked($0) } ?? .good }
}
