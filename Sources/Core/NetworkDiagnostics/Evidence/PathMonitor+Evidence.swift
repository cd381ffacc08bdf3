import Dispatch
package import LinuxSupport
import Logging
import Netlink
public import NetworkReachability

extension PathMonitor {
    /// The timeout for queries to name servers about a name without addresses.
    private static let answerLimit = Duration.seconds(1)

    /// Returns the path to a target as `path(to:waitingForName:)` does, with everything that explains it.
    func evidence(
        of record: TargetRecord,
        over family: AddressFamily?,
        waitingForName limit: Duration
    ) -> NetworkEvidence {
        record.name?.prepare(waitingAtMost: limit)
        var request = EvidenceRequest(of: record, over: family)
        let evidence = query(record, request)
        // Runs outside the lock, because it may take up to the timeout.
        guard let answers = answers(to: evidence, of: record) else { return evidence }
        request.answers = answers
        return query(record, request)
    }

    /// The maximum number of attempts if the network changes meanwhile.
    private static let attemptLimit = 3

    private func query(_ record: TargetRecord, _ request: EvidenceRequest) -> NetworkEvidence {
        var facts = EvidenceFacts(record.target, NetworkPath())
        do throws(NetlinkError) {
            // The target is judged before and after, so that all answers are from the same state of the network.
            for _ in 0..<Self.attemptLimit {
                let subject = request.subject(of: record)
                let (path, found) = try answering(of: request.family == nil ? record : nil) {
                    evaluator throws(MissingAnswers) in
                    let explanation = try evaluator.explain(subject)
                    let facts = try evaluator.facts(on: record, explanation, subject, request)
                    return (explanation.path, (facts, explanation))
                }
                facts = found.0
                facts.path = path
                let isSame = try answering { evaluator throws(MissingAnswers) in
                    try evaluator.explain(subject).agrees(with: found.1)
                }
                if isSame { break }
            }
        } catch {
            let path = NetworkPath(reason: close(after: error))
            facts.path = request.family == nil ? note(path, of: record) : path
            facts.kernelFailure = error
        }
        // The path of one family is not the path of the target, and is not counted as a change.
        if request.family != nil { facts.path.generation = 1 }
        return facts.evidence
    }

    /// Returns the answers of the reachable name servers for a name without addresses; nil if no server is queried.
    private func answers(
        to evidence: NetworkEvidence,
        of record: TargetRecord
    ) -> [IPAddress: NameServerQuery.Answer]? {
        guard case .name(let name, _) = record.target.destination, let answer = record.name?.answer else { return nil }
        if case .addresses = answer { return nil }
        let servers = evidence.resolver?.servers.filter { $0.reason == nil }.map(\.address) ?? []
        guard !servers.isEmpty,
            let answers = environment.resolver.answers(of: servers, to: name, within: Self.answerLimit)
        else { return nil }
        return Dictionary(zip(servers, answers)) { first, _ in first }
    }
}

extension PathEvaluator {
    /// Returns the facts that explain a path.
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
    /// Returns the reasons why the target is reachable or not: every step from the name to the verdict, with a remedy
    /// for the first broken step.
    ///
    /// The verdict, ``NetworkEvidence/path``, is the value that `path` had at that moment. All other answers are from
    /// the same moment, unless the network changes continuously.
    ///
    /// The method never fails. If the kernel cannot be queried, the evidence contains the error. It sends about twenty
    /// kernel queries on the calling thread, or fifty for general reachability, which takes a fraction of a
    /// millisecond. Only if no route is found, routing tables are dumped, which takes longer for large tables.
    ///
    /// No packets are sent except DNS queries for host names:
    ///
    /// - The first call waits for the name service, at most `NetworkReachabilityOptions.nameResolutionWait`.
    /// - If the name service has no answer although the kernel has a path to a name server, each server is queried once
    ///   about the error, for at most one second.
    ///
    /// For many targets, create one manager per target. They share a monitor.
    public func evidence() -> NetworkEvidence { evidence(over: nil) }

    /// Returns the evidence for the addresses of one family only. The result does not count as a change of ``path``.
    package func evidence(over family: AddressFamily?) -> NetworkEvidence {
        let evidence = record.monitor.evidence(
            of: record,
            over: family,
            waitingForName: options.nameResolutionWait
        )
        options.logger?.debug("path explained", metadata: ["target": "\(record.target)", "path": "\(evidence.path)"])
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
    /// The answers of the name servers, by address. Empty if no server was queried.
    var answers: [IPAddress: NameServerQuery.Answer] = [:]

    init(of record: TargetRecord, over family: AddressFamily?) {
        self.family = family
        guard case .name(let name, _) = record.target.destination else { return }
        let resolver = record.monitor.environment.resolver
        configuration = resolver.configuration
        isInHostsFile = configuration?.sources.contains("files") == true && !resolver.localAddresses(of: name).isEmpty
    }

    /// Returns the query for a target, limited to the family to explain.
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
