import LinuxSupport
import NetworkLab
import NetworkReachability

/// A world with a network namespace, and a second namespace that contains the other ends of the cables.
final class RealWorld: World {
    private struct State: Sendable {
        /// The other ends of cables. Renaming a link does not change them.
        var peers: [String: String] = [:]
        var tunnels: [String: TunCable] = [:]
    }

    let client: LabNamespace
    private let router: LabNamespace
    private let state = Locked(State())

    init() throws {
        client = try LabNamespace()
        router = try LabNamespace()
        for namespace in [client, router] {
            // Link-local addresses are usable at once, as in a fake world.
            for scope in ["default", "all"] { try namespace.sysctl("net.ipv6.conf.\(scope).accept_dad", "0") }
        }
        try client.ip("link set lo up")
    }

    func manager(
        of host: String?,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) -> NetworkReachabilityManager {
        var options = options
        options.networkNamespace = .path(client.path)
        return if let host {
            try NetworkReachabilityManager(host: host, options: options)
        } else {
            try NetworkReachabilityManager(options: options)
        }
    }

    func targets(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) -> NetworkReachabilityMonitor {
        var options = options
        options.networkNamespace = .path(client.path)
        return try NetworkReachabilityMonitor(options: options)
    }

    func apply(_ changes: [Change]) throws {
        var commands: [String] = []
        for change in changes {
            if let more = change.commands {
                commands += more
            } else {
                try client.ip(commands)
                commands = []
                try perform(change)
            }
        }
        try client.ip(commands)
    }

    func batch(_ changes: [Change]) throws {
        try client.ip(changes.flatMap { $0.commands ?? [] })
    }

    /// Does nothing, because the end of a real kernel's notifications cannot be detected.
    func settle() {}

    func close() {
        state.withLock { $0.tunnels = [:] }
        client.close()
        router.close()
    }
}

extension RealWorld {
    /// Performs a change for which `ip` is not sufficient.
    private func perform(_ change: Change) throws {
        switch change {
        case .add(let name, let kind, _): try add(name, kind)
        case .plug(let name): try setCarrier(name, true)
        case .unplug(let name): try setCarrier(name, false)
        case .dormant(let name): try makeDormant(name)
        default: break
        }
    }

    private func add(_ name: String, _ kind: Change.LinkKind) throws {
        let peer = "\(name)p"
        switch kind {
        case .pointToPoint, .rawIP, .tunnel:
            let type: TunCable.Kind = kind == .rawIP ? .rawIP : kind == .tunnel ? .none : .pointToPoint
            let tunnel = try TunCable(name, kind: type, from: client, to: router, as: peer)
            state.withLock { $0.tunnels[name] = tunnel }
            try router.ip("link set \(peer) up")
        default:
            try client.ip("link add \(name) type veth peer name \(peer) netns \(router.path)")
            try router.ip("link set \(peer) up")
            state.withLock { $0.peers[name] = peer }
        }
        try client.ip("link set \(name) up")
    }

    private func setCarrier(_ name: String, _ carrier: Bool) throws {
        let (peer, tunnel) = state.withLock { ($0.peers[name], $0.tunnels[name]) }
        if let tunnel { try tunnel.setCarrier(carrier) }
        if let peer { try router.ip("link set \(peer) \(carrier ? "up" : "down")") }
    }

    /// Makes a link dormant. The kernel applies the mode when the link gets carrier.
    private func makeDormant(_ name: String) throws {
        try client.ip("link set \(name) mode dormant")
        try setCarrier(name, false)
        let isDown = try Deadline(after: .seconds(5)).poll {
            try client.run("ip", ["link", "show", name]).output.contains("state DOWN")
        }
        guard isDown else { throw LabError("\(name) did not lose its carrier") }
        try setCarrier(name, true)
    }
}
