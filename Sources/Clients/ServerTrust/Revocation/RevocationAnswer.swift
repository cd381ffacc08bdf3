/// What a signed statement says about a certificate.
struct RevocationAnswer: Hashable, Sendable {
    /// Nil is good.
    let record: RevocationRecord?

    /// Until nextUpdate, and from thisUpdate by the slower of two clocks: when it may be said again without asking. Nil if it may not.
    /// What is taken back for good stays so until the certificate's end.
    let validity: ClosedRange<TrustTime>?

    init(
        _ record: RevocationRecord?,
        from thisUpdate: TrustTime,
        to end: TrustTime?,
        about question: RevocationQuestion,
        _ settings: RevocationSettings
    ) {
        self.record = record
        // A handshake that begins a second before its question is answered may remember the answer.
        let start = thisUpdate.advanced(by: .zero - settings.clockSkew)
        let time = question.time
        var end = end
        if let record, record.reason != .certificateHold {
            end = max(end ?? question.certificate.notAfter, question.certificate.notAfter)
        }
        validity = end.flatMap { end in start <= time && time <= end ? start...end : nil }
    }

    var finding: RevocationFinding { record.map { .revoked($0) } ?? .good }
}

/// What is known about one certificate.
package enum RevocationFinding: Hashable, Sendable {
    case good
    case revoked(RevocationRecord)
    case unknown([RevocationObstacle])

    var isRevoked: Bool {
        guard case .revoked = self else { return false }
        return true
    }
}
