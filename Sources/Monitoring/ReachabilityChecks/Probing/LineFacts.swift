import LinuxSupport
import Netlink
package import NetworkReachability

/// What the kernel knows of the line that probes go along: who is who on it.
package struct LineFacts: Sendable {
    /// Grows with each change of the path; results of another are void.
    package let generation: UInt64
    /// The router packets are sent to; nil where the destination is on the link itself.
    package let gateway: IPAddress?
    /// The index of the interface that packets leave through; 0 for none.
    package let link: UInt32
    /// The far end of the tunnel that packets leave through, if the kernel reports one.
    let tunnelEnd: TunnelFarEnd?
    /// The addresses of this machine.
    let own: Set<WireAddress>
    let manager: NetworkReachabilityManager

    /// Asks the kernel, on the calling thread.
    ///
    /// - Parameter generation: of all lines of a round together; nil for that of this path.
    package init(_ path: NetworkPath, of manager: NetworkReachabilityManager, generation: UInt64? = nil) {
        self.generation = generation ?? path.generation
        gateway = path.gateway
        let link = path.interface?.index ?? 0
        self.link = link
        self.manager = manager
        let end = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.farEnd(of: path)
        }
        tunnelEnd = end ?? nil
        let addresses = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.addresses()
        }
        own = Set(addresses?.map(\.address) ?? [])
    }

    /// What programs ask for names in the namespace of the line.
    var resolver: any HostResolver { manager.record.monitor.environment.resolver }

    /// The index of the interface that a zone names; nil where there is none.
    func link(zone: String) -> UInt32? {
        let found = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.link(zone: zone)
        }
        return (found ?? nil)?.index
    }

    /// The gateway's entry in the neighbour table, with the time since it was confirmed; nil where there is none.
    func neighbour() -> (state: NeighbourFacts.State, sinceConfirmed: Duration?)? {
        entry.map { (NeighbourFacts.State($0.state), $0.sinceConfirmed) }
    }

    /// The gateway's link-layer address; nil where there is no entry.
    var gatewayHardware: [UInt8]? { entry?.hardwareAddress }

    private var entry: Neighbour? {
        guard let gateway, link != 0 else { return nil }
        let found = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.neighbour(gateway.wire, on: link)
        }
        return found ?? nil
    }
}

extension Judge {
    /// The far end of the first tunnel that packets of a path leave through: of the interface itself, or of one below it.
    fileprivate mutating func farEnd(of path: NetworkPath) throws(MissingAnswers) -> TunnelFarEnd? {
        guard let interface = path.interface, let destination = path.destination?.wire else { return nil }
        for index in [interface.index] + interface.underlying.map(\.index) {
            guard let link = try answers.link(index) else { continue }
            if let end = try farEnds(of: link, for: destination)?.first(where: { $0.address != nil }) { return end }
        }
        return nil
    }
}

extension NeighbourFacts.State {
    fileprivate init(_ state: NeighbourState) {
        self =
            switch state {
            case .incomplete: .incomplete
            case .reachable: .reachable
            case .stale: .stale
            case .delay: .delay
            case .probe: .probe
            case .failed: .failed
            case .noARP: .noarp
            case .permanent: .permanent
            default: .none
            }
    }
}
