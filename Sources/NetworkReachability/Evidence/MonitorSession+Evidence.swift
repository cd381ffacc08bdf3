import Netlink

extension MonitorSession {
    /// The path to a target, as `evaluate` finds it, and everything that explains it.
    mutating func evidence(of record: TargetRecord) -> NetworkEvidence {
        do {
            _ = try connect()
            switch Self.poll(record, .whole) {
            case .success(let poll): return try evidence(of: record, poll)
            case .failure(let unnamed):
                var facts = EvidenceFacts(record.target, record.noted(Evaluation(path: unnamed.path)).path)
                facts.nameFailure = record.name?.failure
                return facts.evidence
            }
        } catch {
            let path = NetworkPath(reason: giveUp(error))
            var facts = EvidenceFacts(record.target, record.noted(Evaluation(path: path)).path)
            facts.kernelFailure = error
            return facts.evidence
        }
    }

    /// So often it is begun anew when the network changes meanwhile.
    private static let attemptLimit = 3

    /// Judges before and after, so that all that was asked in between is of one moment.
    private mutating func evidence(of record: TargetRecord, _ poll: Poll) throws(NetlinkError) -> NetworkEvidence {
        var facts = EvidenceFacts(record.target, NetworkPath())
        for _ in 0..<Self.attemptLimit {
            let explanation = try asking { evaluator throws(NetlinkError) in
                let explanation = try evaluator.explain(poll)
                facts = EvidenceFacts(record.target, record.noted(explanation.evaluation).path)
                facts.candidates = explanation.candidates
                facts.tallies = explanation.tallies
                if let deciding = explanation.deciding {
                    try evaluator.gather(deciding, mark: record.target.mark, into: &facts)
                }
                return explanation
            }
            let isSame = try asking { evaluator throws(NetlinkError) in
                try evaluator.explain(poll).agrees(with: explanation)
            }
            if isSame { break }
        }
        return facts.evidence
    }
}
