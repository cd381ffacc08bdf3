import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// Four namespaces in a row. The server echoes UDP and accepts TCP.
///
///     pc p0 10.1.0.2 fd01::2 - r0 10.1.0.1 fd01::1 fe80::1 router r1 10.9.0.1 fd09::1
///       - v0 10.9.0.2 fd09::2 provider v1 10.3.0.1 fd03::1 - s0 10.3.0.2 fd03::2 server 203.0.113.7 fd77::10
final class Chain: Sendable {
    let pc: LabNamespace
    let router: LabNamespace
    let provider: LabNamespace
    let server: LabNamespace
    private let row: LabRow
    private let echo: EchoServer

    /// The same host of the world, by both families.
    static let hosts = LabRow.hosts

    private init() throws {
        row = try LabRow(
            [
                LabRow.Cable(("p0", 2), ("r0", 1), network: 1), LabRow.Cable(("r1", 1), ("v0", 2), network: 9),
                LabRow.Cable(("v1", 1), ("s0", 2), network: 3),
            ],
            isPatient: false
        )
        (pc, router, provider, server) = (row.stations[0], row.stations[1], row.stations[2], row.stations[3])
        try router.ip(
            "addr add fe80::1/64 dev r0 nodad",
            "route add 203.0.113.0/24 via 10.9.0.2",
            "route add 198.51.100.0/24 via 10.9.0.2",
            "route add prohibit 198.51.100.1",
            "route add unreachable 198.51.100.2",
            "route add fd77::/64 via fd09::2",
            "route add fd98::/64 via fd09::2",
            "-6 route add prohibit fd98::1",
            "-6 route add unreachable fd98::2"
        )
        try provider.ip(
            "route add 203.0.113.0/24 via 10.3.0.2",
            "route add prohibit 198.51.100.65",
            "route add blackhole 198.51.100.66",
            "route add fd77::/64 via fd03::2",
            "-6 route add prohibit fd98::65",
            "-6 route add blackhole fd98::66"
        )
        try server.ip("route add default via 10.3.0.1", "route add default via fd03::1")
        echo = try EchoServer(in: [server])
    }

    /// Runs the body with a chain of its own, and takes that away.
    static func run(_ body: @Sendable (Chain) async throws -> Void) async throws {
        let chain = try await LabThread.detached {
            let chain = try Chain()
            // Every neighbour is known, by both families.
            let reachable = try PacketOracle(in: chain.pc).reachable(of: hosts, expecting: Set(hosts))
            guard reachable.count == hosts.count else { throw LabError("the chain carries no packets: \(reachable)") }
            return chain
        }
        defer { chain.close() }
        try await body(chain)
    }

    private func close() {
        echo.stop()
        row.close()
    }
}

extension Chain {
    /// Who the sockets of an engine belong to.
    enum User: CaseIterable {
        case root
        case nobody
    }

    /// An engine whose sockets are in the namespace of the pc.
    func engine(_ limits: EngineLimits = .init(), as user: User = .root) throws -> SocketEngine {
        try pc.engine(limits, asNobody: user == .nobody)
    }

    /// How many sockets there are in the namespace of the pc, which nobody else uses.
    func openSockets() async throws -> Int {
        try await pc.perform {
            ["udp", "udp6", "tcp", "tcp6", "icmp", "icmp6"].reduce(0) { count, kind in
                let table = TextFile.read("/proc/thread-self/net/\(kind)") ?? ""
                return count + max(0, table.split(separator: "\n").count - 1)
            }
        }
    }

    /// All are closed. A process that another test starts may hold them, too, until it becomes its program.
    func expectNoSockets(location: SourceLocation = #_sourceLocation) async throws {
        let areGone = try await eventually { try await openSockets() == 0 }
        #expect(areGone, sourceLocation: location)
    }
}
