import Dispatch
package import LinuxSupport
import Logging
import Netlink
public import NetworkReachability

extension PathMonitor {
    /// The timeout for servers that are queried about a name without addresses.
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

    /// The maximum number of attempts if the network changes meanwhile.
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

    /// The answers of the reachable servers for a name without addresses; nil if there are none.
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

extension NetworkReachabilityManager {
    /// Gathers why the target can be reached now, or why it cannot: every step from the name to the verdict, and what would
    /// mend the one that is broken.
    ///
    /// The verdict, ``NetworkEvidence/path``, is what `path` would have said at that moment; the other answers are of the same
    /// moment too, unless the network changes all the time. The kernel is asked on the calling thread, some twenty questions
    /// or, for the network at large, fifty: a fraction of a millisecond. Only where no route is found are tables of routes read,
    /// which takes longer where they are large. No packet is sent but questions for host names: the first waits for the name
    /// service, at most `NetworkReachabilityOptions.nameResolutionWait`; where that has no answer although the kernel has a
    /// path to a name server, each is asked once by DNS what is wrong, and at most a second waited for. It never fails: where
    /// the kernel cannot be asked, the evidence says so. For many targets make a manager for each; they share a monitor.
    public func evidence() -> NetworkEvidence { evidence(over: nil) }

    /// The same for the addresses of one family only. ``path`` is not about this, so it counts as no change of it.
    package func evidence(over family: AddressFamily?) -> NetworkEvidence {
        let evidence = record.monitor.evidence(
            of: record,
            over: family,
            waitingForName: options.nameResolutionWait
        )
        options.logger?.debug("explained", metadata: ["target": "\(record.target)", "path": "\(evidence.path)"])
        return evidence
    }
}

/// The known facts before the kernel is queried to explain a path.
struct EvidenceRequest {
    /// The family to explain; nil for both.
    var family: AddressFamily?
    /// The configuration of the name service; nil for other targets than names, and if it is not known.
    var configuration: ResolverConfiguration?
    var isInHostsFile = false
    /// What servers said, where they have been asked.
    var answers: [IPAddress: NameServerQuestion.Answer] = [:]

    init(of record: TargetRecord, over family: AddressFamily?) {
        self.family = family
        guard case .name(let name, _) = record.target.destination else { return }
        let resolver = record.monitor.environment.resolver
        configuration = resolver.configuration
        isInHostsFile = configuration?.sources.contains("files") == true && !resolver.localAddresses(of: name).isEmpty
    }

    /// What to ask about the target: its addresses of the family that is meant.
    func subject(of record: TargetRecord) -> EvaluationSubject {
        var subject = record.subject
        switch subject.kind {
        case .majority(let addresses): subject.kind = .majority(chosen(addresses))
        case .any(let addresses):
            let addresses = chosen(addresses)
            let isNamed = addresses.isEmpty && record.name != nil
            subject.kind = isNamed ? .unnamed(.nameNotResolved, servers: nil) : .any(addresses)
        case .unnamed: break
        }
        return subject
    }

    private func chosen(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let family else { return addresses }
        return addresses.filter { $0.wire.family == family }
    }
}
