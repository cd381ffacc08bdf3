import LinuxSupport
import Netlink
import NetworkReachability

/// The kernel's facts about the path of probes: the interface, the gateway, and the addresses of this machine.
struct LineFacts: Sendable {
    /// The generation of the path, which grows with each change. Results of another generation are void.
    let generation: UInt64
    /// The router to which packets are sent; nil if the destination is on the link.
    let gateway: IPAddress?
    /// The index of the outgoing interface; 0 for none.
    let link: UInt32
    /// The far end of the outgoing tunnel; nil without a tunnel.
    let tunnelEnd: TunnelFarEnd?
    /// The addresses of this machine.
    let own: Set<WireAddress>
    let manager: NetworkReachabilityManager

    /// Queries the kernel on the calling thread.
    ///
    /// - Parameter generation: The generation of all lines of a round. If nil, the generation of the path.
    init(_ path: NetworkPath, of manager: NetworkReachabilityManager, generation: UInt64? = nil) {
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

    /// The resolver in the namespace of the line.
    var resolver: any HostResolver { manager.record.monitor.environment.resolver }

    /// Returns the index of the interface of a zone; nil if there is no such interface.
    func link(zone: String) -> UInt32? {
        let found = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.link(zone: zone)
        }
        return (found ?? nil)?.index
    }

    /// Returns the state of the gateway's entry in the neighbour table and the time since its confirmation; nil without an entry.
    func neighbour() -> (state: NeighbourFacts.State, sinceConfirmed: Duration?)? {
        entry.map { (NeighbourFacts.State($0.state), $0.sinceConfirmed) }
    }

    /// The gateway's link-layer address; nil without an entry.
    var gatewayHardware: [UInt8]? { entry?.hardwareAddress }

    private var entry: Neighbour? {
        guard let gateway, link != 0 else { return nil }
        let found = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.neighbour(gateway.wire, on: link)
        }
        return found ?? nil
    }
}

extension PathEvaluator {
    /// Returns the far end of the first tunnel of a path. Checks the path's interface and the interfaces below it.
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

/// The DNS servers of `resolv.conf(5)`.
///
/// If no line names a server, the C library queries 127.0.0.1. Here the list is then empty, because machines rarely run a server there.
struct NameServers: Hashable, Sendable {
    /// The servers in their order, at most three. A link-local address contains its interface as a zone. For a stub resolver, these are the
    /// upstream servers, or the stub itself if they are unknown.
    var servers: [IPAddress]
    /// The address of systemd-resolved, if programs use it (`systemd-resolved.service(8)`).
    var stub: IPAddress?

    init(_ servers: [IPAddress], stub: IPAddress? = nil) {
        (self.servers, self.stub) = (servers, stub)
    }

    init(_ configuration: ResolverConfiguration) {
        servers = configuration.servers
        stub = configuration.stub ?? servers.first { ResolverConfiguration.stubs.contains($0.description) }
    }

    /// Returns the servers of a namespace. A namespace of `ip-netns(8)` may have its own file in `/etc/netns`. Reads files on the calling
    /// thread.
    static func configured(in namespace: NetworkNamespace) throws(NetworkReachabilityError) -> NameServers {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = namespace
        let configuration = try MonitorEnvironment(of: options).resolver.configuration
        return configuration.map(NameServers.init) ?? NameServers([])
    }
}

/// Records the gateway's link-layer addresses during a round. If an address returns after another one, two stations use the gateway's IP
/// address (RFC 5227). If a router was replaced, each address appears once. Thread-safe.
final class HardwareAddressRecorder: Sendable {
    private static let pause = Duration.milliseconds(200)

    private let seen = Locked<[[UInt8]]>([])

    /// Queries the kernel repeatedly until the task is cancelled. Sends no packet.
    func watch(_ line: LineFacts) async {
        guard line.gateway != nil else { return }
        repeat {
            if let address = line.gatewayHardware { note(address) }
            do { try await Task.sleep(for: Self.pause) } catch { return }
        } while true
    }

    func note(_ address: [UInt8]) {
        guard !address.isEmpty else { return }
        seen.withLock { seen in
            // Three changes are sufficient.
            if seen.last != address, seen.count < 4 { seen.append(address) }
        }
    }

    /// Whether an address returned after another one.
    var isContested: Bool { seen.withLock { Set($0).count < $0.count } }
}
