/// Somebody in between shows certificates of his own.
enum TLSStage {
    static func intercepted(_ view: FamilyView) -> Finding? {
        let untrusted = view.results.filter {
            $0.isAnchor && $0.evidence.tls?.isVerified == false && $0.outcome == .invalid(.untrusted)
        }
        let issuers = Set(untrusted.map { $0.evidence.tls?.issuer })
        guard !untrusted.isEmpty, !view.isVerified, issuers.count == 1, view.standing == .proven || untrusted.count > 1
        else { return nil }
        let issuer = issuers.first.flatMap { $0 }.map { " by \($0)" } ?? ""
        let hosts = Set(untrusted.map(\.request.subject)).count
        return Finding(
            .tls,
            .intercepted,
            hosts > 1 ? .proven : .likely,
            "TLS is intercepted: certificates of the anchors are issued\(issuer)",
            untrusted
        )
    }
}
