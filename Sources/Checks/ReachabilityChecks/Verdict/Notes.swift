/// What was seen besides, and decides nothing.
enum Notes {
    static func of(_ evidence: CheckEvidence) -> [String] {
        let results = evidence.valid
        var notes: [String] = []
        if results.contains(where: { $0.kind == .gateway && $0.outcome == .silent }) { notes.append("gatewayDeaf") }
        let proxy = results.contains {
            $0.request.subject == .nobody && $0.evidence.http.map { $0.status >= 400 && $0.status != 511 } == true
        }
        if proxy { notes.append("transparentProxy") }
        let asked = results.filter(\.isAnchor)
        if !asked.isEmpty, !asked.contains(where: { $0.isVerified || $0.isEchoed }) { notes.append("internetUnproven") }
        if asked.contains(where: { $0.isVerified && ($0.evidence.http?.status ?? 0) >= 500 }) {
            notes.append("anchorsIll")
        }
        if results.contains(where: \.looksCaptive) { notes.append("captive") }
        if !evidence.duplicates.isEmpty { notes.append(ProbeReason.addressConflict.rawValue) }
        let redirects = results.contains {
            $0.isTarget && $0.evidence.http.map { 300..<400 ~= $0.status && $0.location != nil } == true
        }
        if redirects { notes.append(ProbeReason.redirected.rawValue) }
        if NamesStage.difference(evidence) != nil { notes.append(ProbeReason.answersDiffer.rawValue) }
        if evidence.isHandicapped { notes.append(ProbeReason.notPermitted.rawValue) }
        return notes
    }
}
