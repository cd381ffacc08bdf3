import LinuxSupport
import Netlink
import NetworkReachability

/// Observes the TCP connections of other programs on a line (`sock_diag(7)`, `rtnetlink(7)`). Sends no packet and needs no privilege.
///
/// Each path needs its own instance, because counters are compared with those of the last observation.
struct PassiveProof: Sendable {
    private let line: LineFacts
    private let binding: ProbeBinding
    private let peers: Set<IPAddress>?
    /// The addresses of the interface, by prefix.
    private let own: [AddressPrefix: Set<WireAddress>]
    private var traffic = TrafficRecorder()

    /// Queries the kernel on the calling thread.
    ///
    /// - Parameter peers: The peers whose answers are used. If nil, all peers beyond the gateway.
    init(_ line: LineFacts, _ binding: ProbeBinding, peers: Set<IPAddress>? = nil) {
        (self.line, self.binding, self.peers) = (line, binding, peers)
        own = line.prefixes().reduce(into: [:]) { own, address in
            own[AddressPrefix(address.address, length: Int(address.prefixLength)), default: []].insert(address.address)
        }
    }

    /// Queries the kernel: a dump of the TCP connections, the gateway's entry in the neighbour table, and at most
    /// ``TrafficRecorder/candidates`` routes. For another namespace, this happens on a new thread.
    ///
    /// - Parameter freshness: The maximum age of an answer.
    mutating func observe(freshness: Duration = .seconds(30)) -> PassiveFinding {
        let connections = (try? connections()) ?? []
        traffic.take(connections.filter(isOnLine).map(ConnectionReading.init))
        let neighbour = line.neighbour()
        let newest = traffic.newest(within: freshness).first {
            line.leads(to: $0.ends.remote, from: $0.ends.local, mark: binding.mark ?? 0)
        }
        if neighbour?.state == .failed { return .trouble(.neighbourFailed) }
        if traffic.isStalled { return .trouble(.stalled) }
        return newest.map { .fresh(age: $0.age) } ?? .silent
    }

    private func connections() throws -> [TCPConnection] {
        guard binding.namespace != .current else { return try TCPConnectionDump.query() }
        return try Thread.run { [namespace = binding.namespace] in
            Result {
                try namespace.enter()
                return try TCPConnectionDump.query()
            }
        }.get()
    }

    /// Returns whether packets of a connection leave through the interface to a host that is not on the link.
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
    /// Returns the addresses and prefixes of the interface.
    fileprivate func prefixes() -> [InterfaceAddress] {
        let addresses = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.addresses()
        }
        return (addresses ?? []).filter { link != 0 && $0.interface == link }
    }

    /// Returns whether packets to an address pass the gateway, or leave through the interface if there is no gateway.
    fileprivate func leads(to address: WireAddress, from source: WireAddress, mark: UInt32) -> Bool {
        let query = RouteQuery(destination: address, source: source, mark: mark)
        let route = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.route(query)
        }.get()
        guard let hop = route?.nextHop else { return false }
        return hop.interface == link && hop.gateway == gateway?.wire
    }
}

/// The kernel's counters of one connection of any program.
struct ConnectionReading: Hashable, Sendable {
    struct Ends: Hashable, Sendable {
        var local: WireAddress
        var localPort: UInt16
        var remote: WireAddress
        var remotePort: UInt16
    }

    var ends: Ends
    /// The time since the peer sent or acknowledged data.
    var age: Duration
    /// The number of segments sent since the connection was opened, including retransmissions.
    var sent: Int
    var retransmitted: Int
    /// The number of segments that the kernel currently assumes to be lost.
    var lost: Int
}

/// Compares the counters of all connections on a line between observations.
struct TrafficRecorder: Sendable {
    /// The maximum number of connections whose routes are queried.
    static let candidates = 8
    /// The minimum number of segments for a decision.
    private static let leastSent = 10
    private static let stalledShare = 80

    private var readings: [ConnectionReading.Ends: ConnectionReading] = [:]
    private(set) var sent = 0
    private(set) var retransmitted = 0
    private(set) var lost = 0

    /// Stores the current counters, and computes the differences from the previous ones. The first call computes none.
    mutating func take(_ now: [ConnectionReading]) {
        let before = readings
        readings = Dictionary(now.map { ($0.ends, $0) }) { first, _ in first }
        (sent, retransmitted, lost) = (0, 0, 0)
        for reading in now {
            guard let last = before[reading.ends], last.sent <= reading.sent else { continue }
            sent += reading.sent - last.sent
            retransmitted += max(0, reading.retransmitted - last.retransmitted)
            // A connection that sends nothing loses no more segments.
            if reading.sent > last.sent { lost += reading.lost }
        }
    }

    /// Whether nearly all segments were lost.
    var isStalled: Bool { sent >= Self.leastSent && (retransmitted + lost) * 100 >= sent * Self.stalledShare }

    /// Returns the connections whose peers answered within `freshness`, the latest first.
    func newest(within freshness: Duration) -> [ConnectionReading] {
        let fresh = readings.values.filter { $0.age < freshness }
        return Array(fresh.sorted { $0.age < $1.age }.prefix(Self.candidates))
    }
}
