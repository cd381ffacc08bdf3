import LinuxSupport
import Netlink
public import NetworkReachability

/// The origin of probes: a network namespace with its kernel state and its sockets.
struct CheckSite: Sendable {
    /// The kernel's path to the network at large over one address family.
    struct Line: Sendable {
        let prober: Prober
        let path: NetworkPath
        /// The destination of packets with a short hop limit.
        let direction: IPAddress
        /// An address that no host has. Nil if each candidate may belong to an existing network.
        let unassigned: IPAddress?
    }

    let options: CheckOptions
    let engine: SocketEngine
    /// The path to the network at large over both families.
    let path: NetworkPath
    let lines: [Line]
    /// The DNS servers; nil if they could not be read.
    let servers: [IPAddress]?
    /// The addresses of the interface that another machine on the link also uses (RFC 4862).
    let duplicates: [IPAddress]
    /// The probes that wait for a response, for the display of progress.
    let out: PendingProbes
    /// The options of the path to the network at large.
    let pathOptions: NetworkReachabilityOptions
    /// The monitor that queries the kernel.
    let monitor: PathMonitor
    /// The trust of web probes. The system's trust store is read once.
    private let trust: WebTrust
    private let gate: ProbeGate
    /// The anchors that requested a pause (`Retry-After`).
    let rest: AnchorPauses
    /// The hosts of the anchors that are not queried during their pause.
    let resting: Set<String>
    /// The kernel's facts by line. Many targets share few lines.
    private let facts: Locked<[LineEnd: LineFacts]> = Locked([:])

    /// The identity of a line.
    private struct LineEnd: Hashable {
        let interface: UInt32?
        let gateway: IPAddress?
    }

    /// The generation of all results of a round.
    static let generation: UInt64 = 1

    /// Queries the kernel on the calling thread. Sends no packet.
    ///
    /// - Parameters:
    ///   - gate: The rate limits that are shared with other checks.
    ///   - engine: The socket engine. If nil, a new engine is created.
    init(
        _ options: CheckOptions,
        out: PendingProbes = PendingProbes(),
        gate: ProbeGate = .process,
        rest: AnchorPauses = .process,
        engine: SocketEngine? = nil
    ) throws(CheckError) {
        (self.out, self.gate, self.rest) = (out, gate, rest)
        var options = options
        let awake = rest.awake(options.anchors)
        resting = Set(options.anchors.map(\.host)).subtracting(awake.map(\.host))
        options.anchors = awake
        pathOptions = options.pathOptions(over: options.addressFamily)
        trust = WebTrust(policy: options.policy)
        do throws(NetworkReachabilityError) {
            let manager = try NetworkReachabilityManager(options: pathOptions)
            path = manager.path
            monitor = manager.record.monitor
            duplicates = Self.duplicates(manager, on: path.interface?.index)
            // SO_BINDTODEVICE takes a name, and neither an alternative name nor an index.
            if let zone = options.interface {
                let link = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
                    try judge.answers.link(zone: zone)
                }
                options.interface = (link ?? nil)?.name ?? zone
            }
        } catch {
            throw .network(error)
        }
        if let engine { self.engine = engine } else { self.engine = try Self.engine(in: options.networkNamespace) }
        let named = options.nameServers ?? (try? NameServers.configured(in: options.networkNamespace))?.servers
        let usable = named?.filter { options.addressFamily ?? $0.wire.family == $0.wire.family }
        servers = options.isThrifty ? usable.map { Array($0.prefix(1)) } : usable
        var lines: [Line] = []
        for family in AddressFamily.allCases where options.addressFamily ?? family == family {
            let settings = options.pathOptions(over: family)
            guard let direction = settings.addressesAtLarge.first(where: { $0.wire.family == family }),
                let manager = try? NetworkReachabilityManager(options: settings), case let path = manager.path,
                path.status.isReachable
            else { continue }
            let facts = LineFacts(path, of: manager, generation: Self.generation)
            let prober = Self.prober(self.engine, facts, options, family, trust, gate)
            let used = Array(facts.own) + [path.gateway].compactMap { $0?.wire } + (servers ?? []).map(\.wire)
            let unassigned = UnassignedAddress.choose(family, along: path, of: manager, used: used)
            lines.append(Line(prober: prober, path: path, direction: direction, unassigned: unassigned))
        }
        self.lines = lines
        options.portalAPI = options.portalAPI ?? Self.portal(options, lines)
        self.options = options
    }

    /// Returns the captive portal API that the network announces.
    private static func portal(_ options: CheckOptions, _ lines: [Line]) -> CheckOptions.Anchor? {
        let paths = lines.map(\.path)
        let indices = paths.compactMap(\.interface?.index)
        if let announced = indices.lazy.compactMap({ options.announcedPortals[$0] }).first { return announced }
        guard options.networkNamespace == .current else { return nil }
        return paths.lazy.compactMap { path in
            path.interface.flatMap { NetworkdFiles.portal(ofInterface: $0.index, source: path.source) }
        }.first
    }

    /// Returns a prober for an address, with the kernel's path to it.
    func prober(to address: IPAddress) throws(NetworkReachabilityError) -> (prober: Prober, path: NetworkPath) {
        let path = try manager(of: address).path
        return (try prober(to: address, along: path), path)
    }

    /// Returns a prober for the far end of a tunnel. Its sockets use the mark of the tunnel's outer packets, and no interface or source
    /// address.
    func prober(
        toFarEnd address: IPAddress,
        mark: UInt32
    ) throws(NetworkReachabilityError) -> (prober: Prober, path: NetworkPath) {
        var options = options
        (options.interface, options.sourceAddress, options.firewallMark) = (nil, nil, mark)
        let manager = try NetworkReachabilityManager(address: address, options: options.pathOptions(over: nil))
        let path = manager.path
        let facts = LineFacts(path, of: manager, generation: Self.generation)
        return (Self.prober(engine, facts, options, address.wire.family, trust, gate), path)
    }

    /// Returns a prober for an address along a known path.
    func prober(to address: IPAddress, along path: NetworkPath) throws(NetworkReachabilityError) -> Prober {
        let end = LineEnd(interface: path.interface?.index, gateway: path.gateway)
        let facts: LineFacts
        if let known = self.facts.withLock({ $0[end] }) {
            facts = known
        } else {
            facts = LineFacts(path, of: try manager(of: address), generation: Self.generation)
            self.facts.withLock { $0[end] = facts }
        }
        return Self.prober(engine, facts, options, address.wire.family, trust, gate)
    }

    private func manager(of address: IPAddress) throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        try NetworkReachabilityManager(address: address, options: options.pathOptions(over: nil))
    }

    private static func prober(
        _ engine: SocketEngine,
        _ facts: LineFacts,
        _ options: CheckOptions,
        _ family: AddressFamily,
        _ trust: WebTrust,
        _ gate: ProbeGate
    ) -> Prober {
        let binding = binding(options, family)
        var prober = Prober(engine: engine, line: facts, binding: binding, trust: trust, gate: gate)
        prober.isThrifty = options.isThrifty
        return prober
    }

    /// Returns the current path; nil if the kernel does not report it.
    func pathNow(to path: NetworkPath, isTarget: Bool) -> NetworkPath? {
        if isTarget, let address = path.destination {
            return try? manager(of: address).path
        }
        return try? NetworkReachabilityManager(options: pathOptions).path
    }

    /// Returns the duplicate addresses of a link. If the link is nil, those of all links.
    private static func duplicates(_ manager: NetworkReachabilityManager, on link: UInt32?) -> [IPAddress] {
        let addresses = try? manager.record.monitor.answering { judge throws(MissingAnswers) in
            try judge.answers.addresses()
        }
        return (addresses ?? []).filter { address in
            address.flags.contains(.detectionFailed) && link.map { address.interface == $0 } ?? true
        }.map { IPAddress($0.address) }
    }

    private static func binding(_ options: CheckOptions, _ family: AddressFamily) -> ProbeBinding {
        var binding = ProbeBinding(family: family, namespace: options.networkNamespace)
        binding.interface = options.interface
        if options.sourceAddress?.wire.family == family { binding.source = options.sourceAddress }
        if options.firewallMark != 0 { binding.mark = options.firewallMark }
        return binding
    }

    static func engine(in namespace: NetworkNamespace) throws(CheckError) -> SocketEngine {
        do throws(SocketError) {
            // In the current namespace, the engine needs one thread instead of two.
            guard namespace != .current else { return try SocketEngine() }
            return try SocketEngine { () throws(SocketError) in
                do throws(SystemError) {
                    try namespace.enterForSockets()
                } catch {
                    throw SocketError(.enterNamespace("\(namespace)"), error)
                }
            }
        } catch {
            throw .sockets(error.description)
        }
    }
}

/// The error for a check that cannot start.
public enum CheckError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The namespace cannot be entered, or the interface or address does not exist.
    case network(NetworkReachabilityError)
    /// No socket or thread can be created. The value is the reason.
    case sockets(String)

    /// The error as one sentence. Control characters are escaped.
    public var description: String {
        switch self {
        case .network(let error): error.description
        case .sockets(let text): "cannot send probes: \(text)"
        }
    }
}

/// The probes that wait for a response, for the display of progress. Thread-safe.
package final class PendingProbes: Sendable {
    private let counts = Locked<[String: Int]>([:])

    package init() {}

    /// The short names of the probes in alphabetical order.
    package var names: [String] { counts.withLock { $0.keys.sorted() } }

    /// Adds the name while the work runs.
    func during<Value: Sendable>(_ name: String, _ work: @Sendable () async -> Value) async -> Value {
        counts.withLock { $0[name, default: 0] += 1 }
        defer {
            counts.withLock { counts in
                let rest = counts[name, default: 1] - 1
                counts[name] = rest > 0 ? rest : nil
            }
        }
        return await work()
    }
}

extension CheckSite {
    /// Returns the kernel's paths to many addresses. Queries the kernel once, on the calling thread. Sends no packet.
    ///
    /// - Returns: Nil for an address for which the kernel has no answer, and for all addresses if the kernel does not answer.
    func paths(to addresses: [IPAddress]) -> [NetworkPath?] {
        let options = options.pathOptions(over: nil)
        let subjects = addresses.map { address in
            (try? Target(address: address, options: options)).map { EvaluationSubject(.any([address]), $0.constraints) }
        }
        var paths = [NetworkPath?](repeating: nil, count: subjects.count)
        do throws(NetlinkError) {
            try monitor.answering { judge throws(MissingAnswers) in
                try MissingAnswers.forEach(subjects.indices) { index throws(MissingAnswers) in
                    guard paths[index] == nil, let subject = subjects[index] else { return }
                    paths[index] = try judge.evaluate(subject).path
                    // The generation of a first query.
                    paths[index]?.generation = 1
                }
            }
        } catch {
            return addresses.map { _ in nil }
        }
        return paths
    }
    /// Returns the current paths to targets. Of the targets with the same interface, gateway and source, one is queried. If one of these
    /// paths has changed, all targets are queried.
    ///
    /// - Returns: Nil for a target for which the kernel has no answer.
    func pathsNow(_ paths: [NetworkPath]) -> [NetworkPath?] {
        var examples: [NetworkPath] = []
        for path in paths where !examples.contains(where: { path.leads(as: $0) }) { examples.append(path) }
        let now = self.paths(to: examples.compactMap(\.destination))
        let isSame = now.count == examples.count && zip(now, examples).allSatisfy { $0?.leads(as: $1) ?? false }
        if isSame { return paths }
        return paths.map { path in path.destination.flatMap { self.paths(to: [$0])[0] } }
    }
}

extension CheckSite {
    /// An address of a host, with the prober for it.
    struct AddressPath: Sendable {
        let address: IPAddress
        let prober: Prober
        let path: NetworkPath
    }

    /// The maximum number of addresses of a host that are tried. A load balancer has up to eight addresses per family.
    private static let addressLimit = 8

    /// The delay before the next address is tried in parallel (RFC 8305, section 8).
    static let nextAddress = Duration.milliseconds(250)

    /// Returns the addresses of a host in the order in which they are tried. Queries the kernel on the calling thread. Sends no packet.
    ///
    /// Addresses without a path do not count against the limit. The families alternate, beginning with the family of the first address (RFC
    /// 8305, section 4), so that a broken family does not use all attempts.
    ///
    /// - Returns: The addresses with a path. If no address has a path, the first address.
    func addressPaths(to addresses: [IPAddress]) -> [AddressPath] {
        let addresses = addresses.filter { options.addressFamily ?? $0.wire.family == $0.wire.family }
        let addressPaths = zip(addresses, paths(to: addresses)).compactMap { address, path -> AddressPath? in
            guard let path else {
                return (try? prober(to: address)).map {
                    AddressPath(address: address, prober: $0.prober, path: $0.path)
                }
            }
            return (try? prober(to: address, along: path)).map { AddressPath(address: address, prober: $0, path: path) }
        }
        let open = Self.interleaved(addressPaths.filter(\.path.status.isReachable))
        return open.isEmpty ? Array(addressPaths.prefix(1)) : Array(open.prefix(Self.addressLimit))
    }

    private static func interleaved(_ addressPaths: [AddressPath]) -> [AddressPath] {
        let first = addressPaths.filter { $0.prober.family == addressPaths.first?.prober.family }
        let second = addressPaths.filter { $0.prober.family != addressPaths.first?.prober.family }
        let pairs = zip(first, second).flatMap { [$0, $1] }
        return pairs + first.dropFirst(second.count) + second.dropFirst(first.count)
    }
}
