import NetworkReachability

/// The gateway does not answer, and nothing beyond it does.
enum GatewayStage {
    static func judge(_ view: FamilyView) -> Finding? {
        let asked = view.results.filter { $0.kind == .gateway }
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
