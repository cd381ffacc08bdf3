import Glibc
import NetworkLab
import TestSupport
import Testing

@testable import LinuxSupport

/// Errors of the local machine.
@Suite(.enabled(if: getuid() == 0))
struct EngineFaultTests {
    private func kind(_ end: DatagramOutcome.End) -> SocketError.Kind? {
        if case .notSent(let error) = end { error.kind } else { nil }
    }

    private func kind(_ end: StreamOutcome.End) -> SocketError.Kind? {
        if case .notSent(let error) = end { error.kind } else { nil }
    }

    @Test(.enabled(if: LabThread.canBecomeNobody, "there is no second user"))
    func `other requests work without permission to ping`() async throws {
        try await Chain.run { chain in
            try chain.pc.sysctl("net.ipv4.ping_group_range", "1 0")
            let engine = try chain.engine(as: .nobody)
            for host in Chain.hosts {
                let endpoint = try SocketEndpoint(host, port: EchoServer.port)
                let echo = await engine.send(DatagramRequest(to: endpoint, .echo(size: 56), limit: .patience))
                #expect(kind(echo.end) == .notPermitted)
                let bound = SocketSettings(interface: "p0")
                let datagram = DatagramRequest(to: endpoint, .payload([1]), settings: bound, limit: .patience)
                #expect(await engine.send(datagram).end == .answered)
                let marked = SocketSettings(mark: 7)
                let refused = DatagramRequest(to: endpoint, .payload([1]), settings: marked, limit: .patience)
                #expect(kind(await engine.send(refused).end) == .notPermitted)
            }
        }
    }

    @Test func `a request without a route is not sent`() async throws {
        try await Chain.run { chain in
            try chain.pc.ip("-4 route del default", "-6 route del default")
            let engine = try chain.engine()
            for host in Chain.hosts {
                let endpoint = try SocketEndpoint(host, port: 80)
                for content in [DatagramRequest.Content.payload([1]), .echo(size: 8)] {
                    let outcome = await engine.send(DatagramRequest(to: endpoint, content, limit: .patience))
                    #expect(kind(outcome.end) == .noRoute, "\(outcome)")
                }
                let connection = await engine.connect(StreamRequest(to: endpoint, limit: .patience))
                #expect(kind(connection.end) == .noRoute, "\(connection)")
            }
        }
    }

    @Test func `a packet that is too big is reported`() async throws {
        try await Chain.run { chain in
            try chain.pc.ip("link set p0 mtu 1400")
            let engine = try chain.engine()
            for host in Chain.hosts {
                let outcome = await engine.send(
                    DatagramRequest(
                        to: try SocketEndpoint(host),
                        .echo(size: 1452),
                        settings: SocketSettings(fragmentation: .forbidden),
                        limit: .milliseconds(500)
                    )
                )
                #expect(kind(outcome.end) == .tooLong, "\(outcome)")
            }
        }
    }

    @Test func `a request bound to a removed interface ends`() async throws {
        try await Chain.run { chain, engine in
            let isAnswered = Locked(false)
            let request = DatagramRequest(
                to: try SocketEndpoint(Chain.hosts[0], port: EchoServer.port),
                .payload([1]),
                settings: SocketSettings(interface: "p0"),
                tries: (0..<600).map { .milliseconds(20) * $0 },
                limit: .seconds(12),
                accepts: { _ in
                    isAnswered.withLock { $0 = true }
                    return false
                }
            )
            async let outcome = engine.send(request)
            try await waitUntil { isAnswered.withLock { $0 } }
            try chain.pc.ip("link del p0")
            let ended = await outcome
            #expect(ended.end == .silent)
            #expect(ended.failures.last?.kind == .noRoute)
            // The interface no longer exists.
            #expect(kind(await engine.send(request).end) == .noInterface)
            try await chain.expectNoSockets()
        }
    }

    /// The test fills the table of descriptors, which takes too long if the limit is very large.
    private static let canRunOut = (1...100_000).contains(sysconf(CInt(_SC_OPEN_MAX)))

    @Test(.enabled(if: canRunOut, "too many files may be opened here"))
    func `requests wait for others if no descriptor is available`() async throws {
        try await Chain.run { chain in
            let engine = try SocketEngine { () throws(SocketError) in
                do {
                    try chain.pc.enter()
                    try LabThread.leaveDescriptors(3)
                } catch {
                    throw SocketError(.enterNamespace("pc"), .notPermitted)
                }
            }
            let hole = try SocketEndpoint("198.51.100.66", port: 9)
            let outcomes = await simultaneously(10) {
                await engine.send(DatagramRequest(to: hole, .payload([0]), limit: .milliseconds(500)))
            }
            #expect(outcomes.count { $0.end == .silent } == 10)
            // At most three at a time.
            #expect(Set(outcomes.map { $0.begun / .milliseconds(250) }.map { Int($0) }).count >= 4)
            // All three descriptors are available again.
            let host = try SocketEndpoint(Chain.hosts[0], port: EchoServer.port)
            #expect(await engine.send(DatagramRequest(to: host, .echo(size: 8), limit: .patience)).end == .answered)
            #expect(await engine.connect(StreamRequest(to: host, limit: .patience)).isConnected)
        }
    }

    @Test func `each request reports a namespace that cannot be entered`() async throws {
        let engine = try SocketEngine { () throws(SocketError) in
            throw SocketError(.enterNamespace("blue"), .noEntry)
        }
        let endpoint = try SocketEndpoint("127.0.0.1", port: 9)
        let datagram = await engine.send(DatagramRequest(to: endpoint, .payload([1]), limit: .patience))
        #expect(datagram.end == .notSent(SocketError(.enterNamespace("blue"), .noEntry)))
        let connection = await engine.connect(StreamRequest(to: endpoint, limit: .patience))
        #expect(kind(connection.end) == .other)
    }

    @Test(.enabled(if: LabNamespace.hasPacketFilter, "there is no nft"))
    func `a drop by the local packet filter is recognized`() async throws {
        try await Chain.run { chain, engine in
            func filter(_ verdict: String) throws { try chain.pc.filter("output", "oifname p0 \(verdict)") }
            try filter("meta l4proto { tcp, udp, icmp } drop")
            for host in Chain.hosts {
                let endpoint = try SocketEndpoint(host, port: EchoServer.port)
                let datagram = await engine.send(DatagramRequest(to: endpoint, .payload([1]), limit: .patience))
                #expect(kind(datagram.end) == .blocked, "\(datagram)")
                let connection = await engine.connect(StreamRequest(to: endpoint, limit: .milliseconds(200)))
                #expect(connection.end == .silent, "\(connection)")
            }
            try filter("meta l4proto { tcp, udp } reject")
            for (host, own) in zip(Chain.hosts, ["10.1.0.2", "fd01::2"]) {
                let endpoint = try SocketEndpoint(host, port: EchoServer.port)
                let datagram = await engine.send(DatagramRequest(to: endpoint, .payload([1]), limit: .patience))
                #expect(datagram.end == .error, "\(datagram)")
                #expect(datagram.errors.first?.message.offender == WireAddress(own))
                let connection = await engine.connect(StreamRequest(to: endpoint, limit: .patience))
                #expect(connection.errors.first?.offender == WireAddress(own), "\(connection)")
            }
        }
    }
}
