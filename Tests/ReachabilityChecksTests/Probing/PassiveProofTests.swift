import Glibc
import NetworkLab
import NetworkReachability
import Testing

@testable import LinuxSupport
@testable import ReachabilityChecks

/// The kernel's reports about other programs' traffic on a real line. Querying them sends no packet.
@Suite struct PassiveProofTests {
    private static let port: UInt16 = 4848

    /// Another program: a TCP connection from the machine to a listener.
    private final class Traffic: Sendable {
        private let engine: SocketEngine
        private let listener: ScriptedServer
        private let connection: Locked<[LabDescriptor]> = Locked([])

        init(_ line: ProbedLine, to namespace: LabNamespace) throws {
            engine = try SocketEngine { () throws(SocketError) in
                do { try line.pc.enter() } catch { throw SocketError(.enterNamespace("pc"), .notPermitted) }
            }
            let addresses = ScriptedServer.anyAddress
            listener = try ScriptedServer(in: namespace, at: addresses, port: Int(port)) { _ in .silence }
        }

        func connect(to address: String) async throws {
            let address = try #require(WireAddress(address))
            let outcome = await engine.connect(
                StreamRequest(
                    to: SocketEndpoint(address, port: port),
                    retries: 5,
                    limit: .patience,
                    finalAction: .keep
                )
            )
            guard let connection = outcome.connection, let descriptor = connection.take() else {
                throw LabError("no connection to \(address): \(outcome)")
            }
            let kept = LabDescriptor(descriptor.release())
            self.connection.withLock { $0.append(kept) }
        }

        func send(_ count: Int) throws {
            guard let number = connection.withLock({ $0.first?.number }) else { throw LabError("no connection") }
            let bytes = [UInt8](repeating: 0, count: count)
            guard Glibc.send(number, bytes, count, 0) > 0 else { throw LabError.system("send") }
        }

        var information: TCPInformation? {
            connection.withLock { $0.first.flatMap { TCPInformation(ofSocket: $0.number) } }
        }
    }

    private func proof(
        _ line: ProbedLine,
        _ family: AddressFamily,
        towards destination: String? = nil,
        peers: Set<IPAddress>? = nil,
        namespace: NetworkNamespace? = nil
    ) throws -> PassiveProof {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(line.pc.path)
        let manager = try NetworkReachabilityManager(
            host: destination ?? ProbedLine.direction(family),
            options: options
        )
        let binding = ProbeBinding(family: family, namespace: namespace ?? options.networkNamespace)
        return PassiveProof(LineFacts(manager.path, of: manager), binding, peers: peers)
    }

    /// Returns the counters of packets from programs of the machine. The kernel itself sends other packets, such as neighbour
    /// solicitations.
    private func sent(_ line: ProbedLine) throws -> [String] {
        try line.pc.perform {
            let text = try ["snmp", "snmp6"].map { try #require(TextFile.read("/proc/thread-self/net/\($0)")) }.joined()
            return text.split(separator: "\n").map(String.init).filter { line in
                ["Tcp:", "Udp:", "Udp6OutDatagrams", "Icmp6OutEchos"].contains { line.hasPrefix($0) }
            }
        }
    }

    @Test(arguments: AddressFamily.allCases)
    func `a connection through the gateway is proof, and observing it sends no packet`(
        family: AddressFamily
    ) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        let traffic = try Traffic(line, to: line.provider)
        var proof = try proof(line, family)
        #expect(proof.observe() == .silent)
        try await traffic.connect(to: ProbedLine.world(family))
        // TCP may still retransmit segments of the handshake, so one pass without a packet proves that observing sends none.
        try await waitUntil {
            let packets = try sent(line)
            for _ in 0..<10 {
                let found = proof.observe()
                guard case .fresh = found else { throw LabError("\(found)") }
            }
            return try sent(line) == packets
        }
        // An answer that is older than a failure proves nothing.
        #expect(proof.observe(freshness: .zero) == .silent)
        var others = try self.proof(line, family, peers: [Situation.host])
        #expect((others.observe() == .silent) == (family == .ipv6))
    }

    @Test(arguments: AddressFamily.allCases)
    func `a connection to the gateway itself proves nothing beyond it`(family: AddressFamily) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        let gateway = family == .ipv4 ? "10.1.0.1" : "fd01::1"
        let traffic = try Traffic(line, to: line.gateway)
        try await traffic.connect(to: gateway)
        var proof = try proof(line, family)
        #expect(proof.observe() == .silent)
        // If the gateway is the target, the connection is proof.
        var direct = try self.proof(line, family, towards: gateway, peers: [try #require(IPAddress(gateway))])
        guard case .fresh = direct.observe() else {
            Issue.record("\(direct.observe())")
            return
        }
    }

    @Test func `a connection over another line proves nothing`() async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        try await LabThread.detached {
            try line.pc.ip("link add p9 type veth peer name g9 netns \(line.gateway.path)", "link set p9 up")
            try line.gateway.ip("addr add 10.3.0.1/24 dev g9", "link set g9 up")
            try line.provider.ip("route add 10.3.0.0/24 via 10.9.0.1")
            try line.pc.ip("addr add 10.3.0.2/24 dev p9", "route add 203.0.113.7/32 via 10.3.0.1 src 10.3.0.2")
        }
        let traffic = try Traffic(line, to: line.provider)
        try await traffic.connect(to: ProbedLine.world(.ipv4))
        var proof = try proof(line, .ipv4)
        #expect(proof.observe() == .silent)
    }

    @Test(.enabled(if: LabThread.canBecomeNobody), arguments: AddressFamily.allCases)
    func `an unprivileged user sees the proof too`(family: AddressFamily) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        let traffic = try Traffic(line, to: line.provider)
        try await traffic.connect(to: ProbedLine.world(family))
        let proof = try proof(line, family, namespace: .current)
        let found = try await line.pc.perform {
            var proof = proof
            try LabThread.becomeNobody()
            return proof.observe()
        }
        guard case .fresh = found else {
            Issue.record("\(found)")
            return
        }
    }

    @Test(arguments: AddressFamily.allCases)
    func `a gateway that does not answer is reported as a fault`(family: AddressFamily) async throws {
        let line = try await ProbedLine.make(family)
        defer { line.close() }
        let traffic = try Traffic(line, to: line.provider)
        try await traffic.connect(to: ProbedLine.world(family))
        var proof = try proof(line, family)
        let gateway = family == .ipv4 ? "10.1.0.1" : "fd01::1"
        // The gateway is silent from now on. Otherwise an answer to an earlier request would confirm it again.
        try await LabThread.detached {
            try line.gateway.sysctl("net.ipv4.conf.all.arp_ignore", "8")
            try line.gateway.sysctl("net.ipv6.conf.all.disable_ipv6", "1")
        }
        // The neighbour table belongs to the whole machine. Other traffic may remove the entry, and a running timer may change it again.
        var found = proof.observe()
        let isFailed = try await eventually {
            try await LabThread.detached { try line.pc.ip("neigh replace \(gateway) dev p0 nud failed") }
            found = proof.observe()
            return found == .trouble(.neighbourFailed)
        }
        #expect(isFailed, "\(found)")
    }

    @Test func `lost segments of a connection are reported as a fault`() async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        let traffic = try Traffic(line, to: line.provider)
        try await traffic.connect(to: ProbedLine.world(.ipv4))
        var proof = try proof(line, .ipv4)
        _ = proof.observe()
        try await LabThread.detached { try LabRow.forward(false, in: line.gateway) }
        try traffic.send(100_000)
        try await waitUntil { (traffic.information?.totalRetransmits ?? 0) > 0 }
        let found = proof.observe()
        #expect(found == .trouble(.stalled), "\(found)")
    }
}
