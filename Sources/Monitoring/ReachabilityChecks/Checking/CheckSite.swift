import LinuxSupport
import Netlink
public import NetworkReachability

/// Where a check sends from: one namespace, its kernel and its sockets.
struct CheckSite: Sendable {
    /// The kernel's path of one family to the network at large, where it has one.
    struct Line: Sendable {
        let prober: Prober
        let path: NetworkPath
        /// Where packets that die on the way are addressed to.
        let direction: IPAddress
        /// The address that no host has. Nil if every candidate may belong to a network that exists.
        let unassigned: IPAddress?
    }

    let options: CheckOptions
    let engine: SocketEngine
    /// To the network at large, over both families.
    let path: NetworkPath
    let lines: [Line]
    /// The DNS servers; nil where that could not be read.
    let servers: [IPAddress]?
    /// Addresses of the interface that packets leave by which another machine has too (RFC 4862).
    let duplicates: [IPAddress]
    /// What is waited for.
    let out: ProbesOut
    /// How the kernel is asked for the path to the network at large.
    let pathOptions: NetworkReachabilityOptions
    /// Who asks the kernel.
    let monitor: PathMonitor
    /// Whom web servers are trusted by, read once.
    private let trust: WebTrust
    private let gate: ProbeGate
    /// What anchors have asked for.
    let rest: AnchorRest
    /// The anchors that are not asked now, for they want to be left alone.
    let resting: Set<String>
    /// The facts of the lines that targets turned out to be on: many targets share few.
    private let facts: Locked<[LineEnd: LineFacts]> = Locked([:])

    /// What tells lines apart.
    private struct LineEnd: Hashable {
        let interface: UInt32?
        let gateway: IPAddress?
    }

    /// Of all that one round finds.
    static let generation: UInt64 = 1

    /// Asks the kernel, on the calling thread; sends nothing.
    ///
    /// - Parameters:
    ///   - gate: what it shares with other checks.
    ///   - rest: the same.
    ///   - engine: nil for one of its own.
    init(
        _ options: CheckOptions,
        out: ProbesOut = ProbesOut(),
        gate: ProbeGate = .process,
        rest: AnchorRest = .process,
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
            // Sockets are bound by the name itself, not by a long alternative one or an index.
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

    /// The server of captivity that the network itself has named.
    private static func portal(_ options: CheckOptions, _ lines: [Line]) -> CheckOptions.Anchor? {
        let paths = lines.map(\.path)
        let indices = paths.compactMap(\.interface?.index)
        if let heard = indices.lazy.compactMap({ options.announcedPortals[$0] }).first { return heard }
        guard options.networkNamespace == .current else { return nil }
        return paths.lazy.compactMap { path in
            path.interface.flatMap { NetworkdFiles.portal(ofInterface: $0.index, source: path.source) }
        }.first
    }

    /// What sends to an address, along the path the kernel has to it.
    func prober(to address: IPAddress) throws(NetworkReachabilityError) -> (prober: Prober, path: NetworkPath) {
        let path = try manager(of: address).path
        return (try prober(to: address, along: path), path)
    }

    /// Returns a prober for the far end of a tunnel. It is bound as the tunnel's outer packets are, and to nothing else.
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

    /// What sends to an address, along a path that the kernel gave for it.
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

    /// What has become of a path; nil where the kernel does not say.
    func pathNow(to path: NetworkPath, isTarget: Bool) -> NetworkPath? {
        if isTarget, let address = path.destination {
            return try? manager(of: address).path
        }
        return try? NetworkReachabilityManager(options: pathOptions).path
    }

    /// On all interfaces, where the kernel names none.
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
            // Without anything to enter, the engine has one thread and not two.
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

/// Why nothing could be checked at all.
public enum CheckError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The namespace is not there or may not be entered, or what was to be bound to is none.
    case network(NetworkReachabilityError)
    /// No socket, or no thread for them.
    case sockets(String)

    /// One sentence for people, safe to print.
    public var description: String {
        switch self {
        case .network(let error): error.description
        case .sockets(let text): "cannot send: \(text)"
        }
    }
}

/// What a check is waiting for, for whoever watches it. Thread-safe.
package final class ProbesOut: Sendable {
    private let counts = Locked<[String: Int]>([:])

    package init() {}

    /// In a few words each, in the order of the alphabet.
    package var names: [String] { counts.withLock { $0.keys.sorted() } }

    /// Counts the work among what is waited for.
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
    /// The kernel's paths to many addresses, in their order, for which it is asked together. Asks on the calling thread; sends nothing.
    ///
    /// - Returns: nil for an address that cannot be asked about this way, and for all where the kernel does not say.
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
                    // As for everybody who asks for the first time.
                    paths[index]?.generation = 1
                }
            }
        } catch {
            return addresses.map { _ in nil }
        }
        return paths
    }
    /// What has become of the paths to targets. Of those that packets left by in the same way one is asked about; where that is not what it
    /// was, all are.
    ///
    /// - Returns: in their order; nil where the kernel does not say.
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
    /// An address of a host, and the prober that sends to it.
    struct Way: Sendable {
        let address: IPAddress
        let prober: Prober
        let path: NetworkPath
    }

    /// The maximum number of addresses of a host that are tried. A load balancer has up to eight of each family.
    private static let wayLimit = 8

    /// The delay before the next address is tried too (RFC 8305, section 8).
    static let nextAddress = Duration.milliseconds(250)

    /// Returns the addresses of a host in the sequence in which they are tried. Queries the kernel on the calling thread; sends nothing.
    ///
    /// Addresses without a path do not count against the limit. The families take turns, beginning with the family of the first address
    /// (RFC 8305, section 4), so that one dead family does not use up all attempts.
    ///
    /// - Returns: The addresses that the kernel has a path to; if there are none, the first address alone.
    func ways(to addresses: [IPAddress]) -> [Way] {
        let addresses = addresses.filter { options.addressFamily ?? $0.wire.family == $0.wire.family }
        let ways = zip(addresses, paths(to: addresses)).compactMap { address, path -> Way? in
            guard let path else {
                return (try? prober(to: address)).map { Way(address: address, prober: $0.prober, path: $0.path) }
            }
            return (try? prober(to: address, along: path)).map { Way(address: address, prober: $0, path: path) }
        }
        let open = Self.interleaved(ways.filter(\.path.status.isReachable))
        return open.isEmpty ? Array(ways.prefix(1)) : Array(open.prefix(Self.wayLimit))
    }

    private static func interleaved(_ ways: [Way]) -> [Way] {
        let first = ways.filter { $0.prober.family == ways.first?.prober.family }
        let second = ways.filter { $0.prober.family != ways.first?.prober.family }
        let pairs = zip(first, second).flatMap { [$0, $1] }
        return pairs + first.dropFirst(second.count) + second.dropFirst(first.count)
    }
}
