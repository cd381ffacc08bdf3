import LinuxSupport
import NetworkLab
import NetworkReachability

@testable import ReachabilityChecks

/// A machine, its gateway and a provider, each a namespace:
///
///     pc 10.1.0.2 fd01::2 - 10.1.0.1 fd01::1 gateway 10.9.0.1 fd09::1 - 10.9.0.2 fd09::2 provider 203.0.113.7 fd77::10
final class ProbedLine: Sendable {
    let pc: LabNamespace
    let gateway: LabNamespace
    let provider: LabNamespace
    private let row: LabRow

    /// Returns the address at which the provider answers.
    static func world(_ family: AddressFamily) -> String { LabRow.host(family) }

    /// Returns a far address without a host.
    static func direction(_ family: AddressFamily) -> String { family == .ipv4 ? "198.18.0.1" : "fd98::1" }

    init() throws {
        row = try .toProvider(isPatient: true)
        (pc, gateway, provider) = (row.stations[0], row.stations[1], row.stations[2])
        try pc.ip("addr add 10.1.0.3/24 dev p0", "addr add fd01::3/64 dev p0 nodad")
    }

    /// Creates a line, and waits until it carries packets. The kernel assigns addresses in the background.
    static func make(_ families: AddressFamily...) async throws -> ProbedLine {
        let line = try await LabThread.detached { try ProbedLine() }
        for family in families {
            guard try await line.carriesPackets(family, expecting: true) else {
                throw LabError("no packets of \(family)")
            }
        }
        return line
    }

    /// Returns whether packets reach the internet and return. They use a separate source address, because a router sends each address a
    /// burst of two errors about its routes and then one every two seconds, which the probes need.
    ///
    /// - Parameter expected: The expected result. A neighbour may need time to be resolved, and silence needs time to be certain.
    func carriesPackets(_ family: AddressFamily, expecting expected: Bool) async throws -> Bool {
        guard let world = WireAddress(Self.world(family)),
            let source = WireAddress(family == .ipv4 ? "10.1.0.3" : "fd01::3")
        else { throw LabError("no address") }
        let request = DatagramRequest(
            to: SocketEndpoint(world),
            .echo(size: 16),
            settings: SocketSettings(source: SocketEndpoint(source)),
            tries: expected ? (0..<20).map { .milliseconds(500 * $0) } : [.zero],
            limit: .seconds(expected ? 10 : 1),
            endsAtError: !expected
        )
        return try await pc.engine().send(request).end == .answered
    }

    func close() {
        row.close()
    }

    /// Runs a private round of the machine, and returns the verdict.
    ///
    /// - Parameters:
    ///   - asNobody: True if it has no privilege and no permission for echoes.
    ///   - interface: The interface that probes are bound to.
    ///   - gate: The rate limits that are shared with other rounds.
    func check(
        _ family: AddressFamily,
        asNobody: Bool = false,
        interface: String? = nil,
        gate: ProbeGate = ProbeGate()
    ) async throws -> (verdict: CheckVerdict, results: [ProbeResult]) {
        if asNobody { try pc.sysctl("net.ipv4.ping_group_range", "1 0") }
        var options = CheckOptions()
        options.family = .init(family)
        options.nameServers = []
        options.interface = interface
        let outcome = try await round(options, engine: pc.engine(asNobody: asNobody), gate: gate)
        var evidence = outcome.evidence
        // Names are not part of the verdict.
        evidence.servers = nil
        return (CheckJudge.judge(evidence), evidence.results)
    }

    /// Runs a round about the uplink.
    ///
    /// - Parameters:
    ///   - engine: The socket engine. If nil, the check creates one.
    ///   - gate: The rate limits that are shared with other rounds.
    func round(
        _ options: CheckOptions,
        engine: SocketEngine? = nil,
        gate: ProbeGate = ProbeGate()
    ) async throws -> (evidence: CheckEvidence, duration: Duration) {
        var options = options
        options.networkNamespace = .path(pc.path)
        let site = try CheckSite(options, gate: gate, engine: engine)
        let nonce = Nonce { 7 }
        let begun = ContinuousClock.now
        let outcome = await LineRound(site: site, nonce: nonce).run()
        var evidence = CheckEvidence(site)
        evidence.results = outcome.results
        return (evidence, .now - begun)
    }

    /// Returns a prober of the machine.
    ///
    /// - Parameter namespace: The namespace of the machine, if it has a name.
    func prober(
        _ family: AddressFamily,
        asNobody: Bool = false,
        namespace: NetworkNamespace? = nil
    ) throws -> Prober {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace ?? .path(pc.path)
        let manager = try NetworkReachabilityManager(host: Self.direction(family), options: options)
        return Prober(
            engine: try pc.engine(asNobody: asNobody),
            line: LineFacts(manager.path, of: manager),
            binding: ProbeBinding(family: family, namespace: options.networkNamespace)
        )
    }
}
