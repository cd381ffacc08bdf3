import LinuxPrimitives
import Netlink
public import NetworkReachability
import Sockets

/// Where a check sends from: one namespace, its kernel and its sockets.
struct CheckSite: Sendable {
    /// The kernel's path of one family to the network at large, where it has one.
    struct Line: Sendable {
        let prober: Prober
        let path: NetworkPath
        /// Where packets that die on the way are addressed to.
        let direction: IPAddress
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
    /// Whom web servers are trusted by, read once.
    private let trust = WebTrust()

    /// Of all that one round finds.
    static let generation: UInt64 = 1

    /// Asks the kernel, on the calling thread; sends nothing.
    init(_ options: CheckOptions, out: ProbesOut = ProbesOut()) throws(CheckError) {
        self.options = options
        self.out = out
        do throws(NetworkReachabilityError) {
            let manager = try NetworkReachabilityManager(options: options.pathOptions(over: options.family))
            path = manager.path
            duplicates = Self.duplicates(manager, on: path.interface?.index)
        } catch {
            throw .network(error)
        }
        engine = try Self.engine(in: options.networkNamespace)
        let named = options.nameServers ?? (try? NameServers.configured(in: options.networkNamespace))?.servers
        servers = named?.filter { options.family ?? $0.wire.family == $0.wire.family }
        var lines: [Line] = []
        for family in AddressFamily.allCases where options.family ?? family == family {
            let settings = options.pathOptions(over: family)
            guard let direction = settings.addressesAtLarge.first(where: { $0.wire.family == family }),
                let manager = try? NetworkReachabilityManager(options: settings), case let path = manager.path,
                path.status.isReachable
            else { continue }
            let prober = Prober(
                engine: engine,
                line: LineFacts(path, of: manager, generation: Self.generation),
                binding: Self.binding(options, family),
                trust: trust
            )
            lines.append(Line(prober: prober, path: path, direction: direction))
        }
        self.lines = lines
    }

    /// What sends to an address, along the path the kernel has to it.
    func prober(to address: IPAddress) throws(NetworkReachabilityError) -> (prober: Prober, path: NetworkPath) {
        let manager = try NetworkReachabilityManager(address: address, options: options.pathOptions(over: nil))
        let path = manager.path
        let binding = Self.binding(options, address.wire.family)
        let facts = LineFacts(path, of: manager, generation: Self.generation)
        return (Prober(engine: engine, line: facts, binding: binding, trust: trust), path)
    }

    /// What has become of a path; nil where the kernel does not say.
    func pathNow(to path: NetworkPath, isTarget: Bool) -> NetworkPath? {
        if isTarget, let address = path.destination { return try? prober(to: address).path }
        return try? NetworkReachabilityManager(options: options.pathOptions(over: options.family)).path
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

    private static func engine(in namespace: NetworkNamespace) throws(CheckError) -> SocketEngine {
        do throws(SocketError) {
            return try SocketEngine { () throws(SocketError) in
                do throws(NetworkReachabilityError) {
                    try namespace.enter()
                } catch {
                    throw SocketError(.enterNamespace("\(namespace)"), .notPermitted)
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
