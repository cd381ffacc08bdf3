import Dispatch
import LinuxPrimitives
import Netlink

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
        var inquiry = EvidenceInquiry(of: record, over: family)
        let evidence = ask(record, inquiry)
        // Outside the lock: it may take its time.
        guard let answers = answers(to: evidence, of: record) else { return evidence }
        inquiry.answers = answers
        return ask(record, inquiry)
    }

    private func ask(_ record: TargetRecord, _ inquiry: EvidenceInquiry) -> NetworkEvidence {
        let (evidence, wasLost, lookups) = session.withLock { session in
            let wasListening = session.isListening
            let evidence = session.evidence(of: record, inquiry)
            return (evidence, wasListening && !session.isListening, session.takeLookups())
        }
        state.withLock { $0.statistics.lookups += lookups }
        if wasLost { queue.async { [weak self] in self?.lookAtEverything() } }
        return evidence
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
            let answers = surroundings.resolver.answers(of: servers, to: name, within: Self.answerLimit)
        else { return nil }
        return Dictionary(zip(servers, answers)) { first, _ in first }
    }
}
