import LinuxSupport
import Netlink
import NetworkReachability

extension NetworkInspector {
    /// What keeps a route from carrying packets to all of a prefix; nil where there is one that does. A single route must cover
    /// it; what narrower routes do to parts of it does not matter.
    func obstacle(ofRouteTo prefix: IPPrefix) -> NetworkPath.UnsatisfiedReason? {
        do throws(NetlinkError) {
            return try monitor.answering { judge throws(MissingAnswers) in
                try judge.obstacle(ofRouteTo: prefix, mark: options.firewallMark)
            }
        } catch {
            return .init(error)
        }
    }

    /// What keeps an interface from being of use; nil when nothing does: it is up, with carrier, and has an address that is not
    /// tentative, no duplicate, and good beyond its link.
    func obstacle(ofInterface name: String) -> NetworkPath.UnsatisfiedReason? {
        do throws(NetlinkError) {
            return try monitor.answering { judge throws(MissingAnswers) in
                guard let link = try judge.answers.answer(to: .linkNamed(name)).link else { return .noInterface }
                if let obstacle = link.obstacle { return obstacle.reason }
                let hasAddress = try judge.answers.addresses().contains { address in
                    address.interface == link.index && address.isUsable && !address.isLinkLocal
                }
                return hasAddress ? nil : .noSourceAddress
            }
        } catch {
            return .init(error)
        }
    }
}

extension Judge {
    fileprivate mutating func obstacle(
        ofRouteTo prefix: IPPrefix,
        mark: UInt32
    ) throws(MissingAnswers) -> NetworkPath.UnsatisfiedReason? {
        let samples = prefix.samples
        let verdicts = try verdicts(on: samples.map { AddressCheck($0, PathConstraints(mark: mark)) })
        var entries: [Route?] = []
        try MissingAnswers.forEach(samples) { sample throws(MissingAnswers) in
            entries.append(try answers.entry(RouteQuery(destination: sample.wire, mark: mark)))
        }
        var obstacle: NetworkPath.UnsatisfiedReason?
        for (verdict, entry) in zip(verdicts, entries) {
            guard let entry, Int(entry.prefixLength) <= prefix.wire.length else { continue }
            guard case .failure(let found) = verdict.outcome else { return nil }
            obstacle = obstacle ?? found.reason
        }
        if let obstacle { return obstacle }
        // The first sample is an ordinary address; what is said of it is said of the prefix.
        guard entries.first == .some(nil), case .failure(let found)? = verdicts.first?.outcome else { return .noRoute }
        return found.reason
    }
}

extension NetworkPath.UnsatisfiedReason {
    fileprivate init(_ error: NetlinkError) {
        self = error.stage == .namespace ? .namespaceGone : .netlinkUnavailable
    }
}
