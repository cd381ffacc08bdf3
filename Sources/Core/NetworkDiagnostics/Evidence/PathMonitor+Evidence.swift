import Dispatch
import LinuxSupport
import Netlink
import NetworkReachability

extension PathMonitor {
    /// So long servers may take that are asked why a name has no address.
    private static let answerLimit = Duration.seconds(1)

    /// The path to a target as `path(to:waitingForName:)` finds it, and everything that explains it.
    func evidence(
        of record: TargetRecord,
        over family: AddressFamily?,
        waitingForName limit: Duration
    ) -> NetworkEvidence {
        record.name?.prepare(waitingAtMost: limit)
        var request = EvidenceRequest(of: record, over: family)
        let evidence = ask(record, request)
        // Outside the lock: it may take its time.
        guard let answers = answers(to: evidence, of: record) else { return evidence }
        request.answers = answers
        return ask(record, request)
    }

    /// So often it is begun anew when the network changes meanwhile.
    private static let attemptLimit = 3

    private func ask(_ record: TargetRecord, _ request: EvidenceRequest) -> NetworkEvidence {
        var facts = EvidenceFacts(record.target, NetworkPath())
        do throws(NetlinkError) {
            // Judged before and after, so that all that was asked in between is of one moment.
            for _ in 0..<Self.attemptLimit {
                let subject = request.subject(of: record)
                let (path, found) = try answering(of: request.family == nil ? record : nil) {
                    judge throws(MissingAnswers) in
                    let explanation = try judge.explain(subject)
                    let facts = try judge.facts(on: record, explanation, subject, request)
                    return (explanation.path, (facts, explanation))
                }
                facts = found.0
                facts.path = path
                let isSame = try answering { judge throws(MissingAnswers) in
                    try judge.explain(subject).agrees(with: found.1)
                }
                if isSame { break }
            }
        } catch {
            let path = NetworkPath(reason: giveUp(error))
            facts.path = request.family == nil ? note(path, of: record) : path
            facts.kernelFailure = error
        }
        // The path of one family is not the target's own, and counts as no change.
        if request.family != nil { facts.path.generation = 1 }
        return facts.evidence
    }

    /// What the servers that can be reached say to a name without addresses; nil where there is none.
    private func answers(
        to evidence: NetworkEvidence,
        of record: TargetRecord
    ) -> [IPAddress: NameServerQuestion.Answer]? {
        guard case .name(let name, _) = record.target.destination, let answer = record.name?.answer else { return nil }
        if case .addresses = answer { return nil }
        let servers = evidence.resolver?.servers.filter { $0.reason == nil }.map(\.address) ?? []
        guard !servers.isEmpty,
            let answers = environment.resolver.answers(of: servers, to: name, within: Self.answerLimit)
        else { return nil }
        return Dictionary(zip(servers, answers)) { first, _ in first }
    }
}

extension Judge {
    /// Everything that explains a path.
    fileprivate mutating func facts(
        on record: TargetRecord,
        _ explanation: Explanation,
        _ subject: EvaluationSubject,
        _ request: EvidenceRequest
    ) throws(MissingAnswers) -> EvidenceFacts {
        var facts = EvidenceFacts(record.target, explanation.path)
        facts.family = request.family
        facts.nameFailure = record.name?.failure
        facts.resolver = try resolver(request)
        if case .unnamed = subject.kind {
            if facts.isNameBroken { return facts }
            facts.isAboutServers = true
            facts.server = explanation.deciding?.destination
        } else {
            facts.candidates = explanation.candidates
            facts.quorums = explanation.quorums
        }
        guard let deciding = explanation.deciding else {
            try gatherLinks(into: &facts)
            return facts
        }
        var check = subject.check(deciding.destination)
        if facts.isAboutServers { check = AddressCheck(deciding.destination) }
        try gather(deciding, check, into: &facts)
        return facts
    }
}
