import NetworkReachability

/// The gateway does not answer, and nothing beyond it does.
enum GatewayStage {
    static func judge(_ view: FamilyView) -> Finding? {
        let asked = view.gatewayProbes
        let givenUp = view.results.filter(\.isNeighbourGivenUp)
        guard view.gatewayLife.isEmpty, view.lifeBeyond.isEmpty, !asked.isEmpty || !givenUp.isEmpty else { return nil }
        let name = view.gateway.map { "the gateway \($0)" } ?? "the gateway"
        let dead = asked.filter { $0.evidence.neighbour?.provesDeath == true }
        if !dead.isEmpty {
            return Finding(.gateway, .neighbourFailed, .proven, "\(name) does not answer on the link", dead)
        }
        let resolving = asked.filter { [.incomplete, .failed].contains($0.evidence.neighbour?.after) }
        if !givenUp.isEmpty || !resolving.isEmpty {
            let text = "\(name) does not answer on the link"
            return Finding(.gateway, .neighbourFailed, view.evidence.silence, text, givenUp + resolving)
        }
        return Finding(.gateway, .silent, view.evidence.silence, "\(name) is silent, and so is all behind it", asked)
    }
}

/// Whether packets get to the internet and back.
enum InternetStage {
    static func proven(_ view: FamilyView) -> Finding? {
        let anchors = view.results.filter { $0.isVerified || $0.isEchoed }
        switch view.standing {
        case .proven:
            return Finding(.works, .internetProven, .proven, "the internet answers", anchors)
        case .likely:
            let text = "what lies beyond the gateway answers; the internet itself was not asked"
            return Finding(.works, .upstreamAnswers, .likely, text, view.lifeBeyond)
        case .half:
            let text = "half of the anchors prove the internet, and half do not"
            return Finding(.inconclusive, .anchorsDisagree, .suspected, text, view.results.filter(\.isAnchor))
        case .failed, .unknown:
            return nil
        }
    }
}

/// Small packets pass, large ones are lost, and nobody says so (RFC 2923).
enum SegmentStage {
    static func judge(_ view: FamilyView) -> Finding? {
        finding(view.results.filter { $0.isAnchor || $0.isTarget })
    }

    /// A target answers small packets, and large ones to it are lost.
    static func degraded(_ evidence: CheckEvidence) -> Finding? {
        guard let target = evidence.target else { return nil }
        let sized = evidence.valid.filter { $0.isTarget && $0.kind == .mtu && $0.request.size != nil }
        let answered = sized.filter { $0.outcome == .answered }.compactMap(\.request.size)
        let lost = sized.filter { $0.outcome == .silent }.compactMap(\.request.size)
        // Lost in both trials, while smaller ones were answered.
        guard let passed = answered.max(), answered.count > 1, let large = lost.max(), large > passed,
            lost.count(where: { $0 == large }) > 1
        else { return nil }
        // A packet filter may drop large echoes alone. It hardly lets the larger of them pass.
        let confidence = passed >= 1280 ? CheckConfidence.likely : .suspected
        let text =
            "\(target.text) answers, and packets of \(large) bytes to it are lost without an error; packets of \(passed) bytes pass"
        return Finding(.degraded, .pathMTU, confidence, text, sized)
    }

    static func finding(_ results: [ProbeResult]) -> Finding? {
        let small = results.filter { $0.kind == .mtu && $0.request.size == nil && $0.outcome == .answered }
        guard !small.isEmpty else { return nil }
        let size = small.compactMap(\.evidence.pathMTU).max().map { "; packets of \($0) bytes pass" } ?? ""
        return Finding(
            .upstream,
            .pathMTU,
            .proven,
            "large packets are lost on the way, small ones pass\(size)",
            small
        )
    }
}

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
