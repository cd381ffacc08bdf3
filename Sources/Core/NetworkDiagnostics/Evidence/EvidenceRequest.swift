import LinuxSupport
import Netlink
import NetworkReachability

/// What is known before the kernel is asked to explain a path.
struct EvidenceRequest {
    /// The family to explain; nil for both.
    var family: AddressFamily?
    /// Where names are looked up; nil for a target that is none, and where that is not known.
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
