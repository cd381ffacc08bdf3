import LinuxPrimitives
import Netlink

extension NetworkInspector {
    /// What keeps a route from carrying packets to all of a prefix; nil where there is one that does. A single route must cover
    /// it; what narrower routes do to parts of it does not matter.
    func obstacle(ofRouteTo prefix: IPPrefix) -> NetworkPath.UnsatisfiedReason? {
        do throws(NetlinkError) {
            let connection = try monitor.connection()
            let mark = options.firewallMark
            let samples = prefix.samples
            var judge = RouteJudge(kernel: connection, links: LinkTable(connection))
            var inquiries = samples.map { Inquiry($0, mark: mark) }
            let verdicts = try judge.judge(&inquiries)
            let entries = try connection.routes(
                samples.map { RouteQuery(destination: $0.wire, mark: mark, wantsEntry: true) }
            )
            var obstacle: NetworkPath.UnsatisfiedReason?
            for (verdict, entry) in zip(verdicts, entries) {
                guard case .success(let route) = entry, Int(route.prefixLength) <= prefix.wire.length else { continue }
                guard case .failure(let found) = verdict.outcome else { return nil }
                obstacle = obstacle ?? found.reason
            }
            if let obstacle { return obstacle }
            // The first sample is an ordinary address; what is said of it is said of the prefix.
            guard case .failure? = entries.first, case .failure(let found)? = verdicts.first?.outcome else {
                return .noRoute
            }
            return found.reason
        } catch {
            return .init(error)
        }
    }

    /// What keeps an interface from being of use; nil when nothing does: it is up, with carrier, and has an address that is not
    /// tentative, no duplicate, and good beyond its link.
    func obstacle(ofInterface name: String) -> NetworkPath.UnsatisfiedReason? {
        do throws(NetlinkError) {
            let connection = try monitor.connection()
            guard let link = try connection.link(named: name) else { return .noInterface }
            if let obstacle = link.obstacle { return obstacle.reason }
            let hasAddress = try connection.addresses().contains { address in
                address.interface == link.index && address.isUsable && !address.address.isLinkLocal
            }
            return hasAddress ? nil : .noSourceAddress
        } catch {
            return .init(error)
        }
    }
}

extension NetworkPath.UnsatisfiedReason {
    fileprivate init(_ error: NetlinkError) {
        self = error.stage == .namespace ? .namespaceGone : .netlinkUnavailable
    }
}
