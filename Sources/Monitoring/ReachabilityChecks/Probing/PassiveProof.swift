import LinuxSupport
import Netlink
package import NetworkReachability

/// What the traffic of others shows of a line: a probe that sends nothing, and needs no privilege (`sock_diag(7)`, `rtnetlink(7)`).
///
/// One for each path: it remembers what it saw last, to see what has become of segments since.
package struct PassiveProof: Sendable {
    private let line: LineFacts
    private let binding: ProbeBinding
    private let peers: Set<IPAddress>?
    /// The addresses of the interface.
    private let own: [AddressPrefix: Set<WireAddress>]
    private var traffic = TrafficWitness()

    /// What was found, for the judge and for the schedule.
    package struct Finding: Sendable {
        /// `answered` where something beyond the gateway has answered lately, else `silent`; it costs nothing.
        package var result: ProbeResult
        package var meaning: PassiveFinding
    }

    /// Asks the kernel, on the calling thread.
    ///
    /// - Parameter peers: whose answers count; nil for everybody's beyond the gateway.
    package init(_ line: LineFacts, _ binding: ProbeBinding, peers: Set<IPAddress>? = nil) {
        (self.line, self.binding, self.peers) = (line, binding, peers)
        own = line.prefixes().reduce(into: [:]) { own, address in
            own[AddressPrefix(address.address, length: Int(address.prefixLength)), default: []].insert(address.address)
        }
    }

    /// Asks the kernel, on the calling thread or, of another namespace, on one that is made for it: a dump of the TCP connections, the
    /// gateway's entry in the neighbour table, and at most ``TrafficWitness/candidates`` routes.
    ///
    /// - Parameter freshness: how old an answer may be. After a failure only later ones prove anything.
    package mutating func observe(freshness: Duration = .seconds(30)) -> Finding {
        let connections = (try? connections()) ?? []
        traffic.take(connections.filter(isOnLine).map(ConnectionReading.init))
        let neighbour = line.neighbour()
        let newest = traffic.newest(within: freshness).first {
            line.leads(to: $0.ends.remote, from: $0.ends.local, mark: binding.mark ?? 0)
        }
        let meaning: PassiveFinding =
            if neighbour?.state == .failed {
                .trouble(.neighbourFailed)
            } else if traffic.isStalled {
                .trouble(.stalled)
            } else if let newest {
                .fresh(age: newest.age)
            } else {
                .silent
            }
        let request = ProbeRequest(.passive, .line, binding: binding, limit: .zero)
        var result = ProbeResult(request, generation: line.generation, .silent)
        if case .fresh = meaning { result.outcome = .answered }
        result.evidence.remote = newest.map { IPAddress($0.ends.remote) }
        result.evidence.retransmits = traffic.retransmitted
        result.evidence.lost = traffic.lost
        result.evidence.neighbour = neighbour.map {
            NeighbourFacts(before: $0.state, after: $0.state, age: .zero, confirmedAge: $0.sinceConfirmed)
        }
        return Finding(result: result, meaning: meaning)
    }

    private func connections() throws -> [TCPConnection] {
        guard binding.namespace != .current else { return try ConnectionQuestion.ask() }
        return try Thread.run { [namespace = binding.namespace] in
            Result {
                try namespace.enter()
                return try ConnectionQuestion.ask()
            }
        }.get()
    }

    /// Whether packets of a connection leave through the interface, to somebody who is not on the link.
    private func isOnLine(_ connection: TCPConnection) -> Bool {
        let remote = connection.remote
        guard remote.family == binding.family, !line.own.contains(remote),
            IPAddress(remote).mayBeBeyond(routerOf: IPAddress(connection.local)),
            connection.interface == 0 || connection.interface == line.link,
            own.values.contains(where: { $0.contains(connection.local) })
        else { return false }
        if let peers { return peers.contains(IPAddress(remote)) }
        return !own.keys.contains { $0.contains(remote) }
    }
}

extension ConnectionReading {
    init(_ connection: TCPConnection) {
        ends = Ends(
            local: connection.local,
            localPort: connection.localPort,
            remote: connection.remote,
            remotePort: connection.remotePort
        )
        let information = connection.information
        age = min(information.sinceAcknowledgement, information.sinceDataReceived)
        sent = information.segmentsSent ?? 0
        retransmitted = information.totalRetransmits
        lost = information.lost
    }
}

extension LineFacts {
    /// The addresses of the interface, with what is on the link.
    fileprivate func prefixes() -> [InterfaceAddress] {
        let addresses = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.addresses()
        }
        return (addresses ?? []).filter { link != 0 && $0.interface == link }
    }

    /// Whether packets to an address pass the gateway, or leave through the interface where there is none.
    fileprivate func leads(to address: WireAddress, from source: WireAddress, mark: UInt32) -> Bool {
        let query = RouteQuery(destination: address, source: source, mark: mark)
        let route = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.route(query)
        }.get()
        guard let hop = route?.nextHop else { return false }
        return hop.interface == link && hop.gateway == gateway?.wire
    }
}
