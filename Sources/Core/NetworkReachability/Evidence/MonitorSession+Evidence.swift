import Netlink

extension MonitorSession {
    /// The path to a target, as `evaluate` finds it, and everything that explains it.
    mutating func evidence(of record: TargetRecord, _ inquiry: EvidenceInquiry) -> NetworkEvidence {
        do {
            _ = try connect()
            return try facts(on: record, inquiry).evidence
        } catch {
            let evaluation = Evaluation(path: NetworkPath(reason: giveUp(error)))
            var facts = EvidenceFacts(record.target, inquiry.noted(evaluation, record))
            facts.kernelFailure = error
            return facts.evidence
        }
    }

    /// So often it is begun anew when the network changes meanwhile.
    private static let attemptLimit = 3

    /// What is asked about: the addresses of a target or, while a name has none, the servers that would know.
    private struct Question {
        var poll: Poll
        /// Why the name has no address; nil where it has some.
        var unnamed: Unnamed?
        var isOfServers = false

        func evaluation(_ found: Evaluation) -> Evaluation {
            guard let unnamed else { return found }
            return isOfServers ? unnamed.evaluation(byServers: found) : Evaluation(path: unnamed.path)
        }
    }

    /// Judges before and after, so that all that was asked in between is of one moment.
    private mutating func facts(
        on record: TargetRecord,
        _ inquiry: EvidenceInquiry
    ) throws(NetlinkError) -> EvidenceFacts {
        let question = Self.question(record, inquiry)
        var facts = EvidenceFacts(record.target, NetworkPath())
        for _ in 0..<Self.attemptLimit {
            let explanation = try asking { evaluator throws(NetlinkError) in
                let explanation = try evaluator.explain(question.poll)
                let evaluation = question.evaluation(explanation.evaluation)
                facts = EvidenceFacts(record.target, inquiry.noted(evaluation, record))
                facts.family = inquiry.family
                facts.nameFailure = record.name?.failure
                facts.resolver = try evaluator.resolver(inquiry)
                if question.unnamed == nil {
                    facts.candidates = explanation.candidates
                    facts.tallies = explanation.tallies
                } else if facts.isNameBroken {
                    return explanation
                } else {
                    facts.isAboutServers = true
                    facts.server = explanation.deciding?.destination
                }
                if let deciding = explanation.deciding {
                    let inquiry = question.poll.inquiry(deciding.destination)
                    try evaluator.gather(deciding, inquiry, into: &facts)
                } else {
                    try evaluator.gatherLinks(into: &facts)
                }
                return explanation
            }
            let isSame = try asking { evaluator throws(NetlinkError) in
                try evaluator.explain(question.poll).agrees(with: explanation)
            }
            if isSame { break }
        }
        return facts
    }

    private static func question(_ record: TargetRecord, _ inquiry: EvidenceInquiry) -> Question {
        let (mark, interface) = (record.target.mark, record.target.interface)
        switch record.target.destination {
        case .atLarge(let addresses):
            let chosen = inquiry.chosen(addresses)
            return Question(poll: Poll(majorityOf: chosen, mark: mark, interface: interface, isQuick: false))
        case .address(let address):
            return Question(poll: Poll(anyOf: inquiry.chosen([address]), mark: mark, interface: interface))
        case .name:
            if case .addresses(let addresses)? = record.name?.answer {
                let chosen = inquiry.chosen(addresses)
                let poll = Poll(anyOf: chosen, mark: mark, interface: interface)
                return Question(poll: poll, unnamed: chosen.isEmpty ? .notResolved : nil)
            }
            let unnamed: Unnamed = record.name?.answer == .pending ? .resolving : .notResolved
            let servers = record.name?.missingServers
            return Question(poll: Poll(servers: servers ?? []), unnamed: unnamed, isOfServers: servers != nil)
        }
    }
}

extension EvidenceInquiry {
    /// The path of both families is the target's own, and counted as a change where it is one.
    fileprivate func noted(_ evaluation: Evaluation, _ record: TargetRecord) -> NetworkPath {
        guard family != nil else { return record.noted(evaluation).path }
        var path = evaluation.path
        path.generation = 1
        return path
    }
}
