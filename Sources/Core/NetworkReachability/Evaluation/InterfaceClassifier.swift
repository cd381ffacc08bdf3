package import Netlink

/// Determines the type of an interface: a pure decision list over links and their devices.
///
/// Sources: `rtnetlink(7)`, `ip-link(8)`, `<linux/if_arp.h>`, `<linux/nl80211.h>`. The kernel does not distinguish a phone's tether
/// from an ethernet adapter, and does not report the purpose of a ppp or tun or whether Wi-Fi is metered.
extension Answers {
    /// Layers followed below a link; the kernel itself refuses to stack more (MAX_NEST_DEV).
    private static var depthLimit: Int { 8 }

    /// Classifies one link.
    ///
    /// - Returns: The class, and the links it runs over from the next layer down to the last: the device of a VLAN,
    ///   the active port of a bond, the port of a bridge that decided. The chain ends where a link runs over nothing,
    ///   where it continues in another network namespace, and before a link that is already part of it.
    package mutating func classify(
        _ link: Link
    ) throws(MissingAnswers) -> (class: InterfaceClass, underlying: [Link]) {
        try classify(link, above: [])
    }

    /// - Parameter above: Indices of the links that run over this one, in this walk.
    private mutating func classify(
        _ link: Link,
        above: [UInt32]
    ) throws(MissingAnswers) -> (class: InterfaceClass, underlying: [Link]) {
        let path = above + [link.index]
        switch ClassificationRule(for: link) {
        case .known(let known):
            return (known, [])
        case .stacked(let type):
            return (InterfaceClass(type), try lower(of: link, path: path)?.chain ?? [])
        case .tunnel:
            guard let lower = try lower(of: link, path: path) else { return (InterfaceClass(.tunnel), []) }
            return (
                InterfaceClass(type: .tunnel, isWWAN: lower.class.isWWAN, isUplink: lower.class.isUplink), lower.chain
            )
        case .lower:
            guard let lower = try lower(of: link, path: path) else { return (InterfaceClass(.ethernet), []) }
            return (lower.class, lower.chain)
        case .activePort:
            var port: Layer?
            if let index = link.activePortIndex, let active = try self.link(index) {
                port = try layer(active, path: path)
            }
            if port == nil { port = try best(of: try ports(of: link), path: path) }
            return (port?.class ?? InterfaceClass(.wiredVirtual), port?.chain ?? [])
        case .bridgePorts:
            let ports = try ports(of: link).filter { !["veth", "netkit", "tun"].contains($0.kind) }
            let port = try best(of: ports, path: path)
            return (port?.class ?? InterfaceClass(.wiredVirtual), port?.chain ?? [])
        case .hardware:
            let hardware = try answer(to: .hardware(link)).hardware
            // A link of a modem may have any name.
            if let index = hardware.lowerIndex, !path.contains(index), let below = try self.link(index),
                let lower = try layer(below, path: path), lower.class.isWWAN
            {
                return (lower.class, lower.chain)
            }
            return (InterfaceClass(link, hardware), [])
        }
    }

    /// One layer below another: its class, and the chain that begins with it.
    private typealias Layer = (class: InterfaceClass, chain: [Link])

    private mutating func lower(of link: Link, path: [UInt32]) throws(MissingAnswers) -> Layer? {
        // An index of another namespace may be that of an unrelated link here.
        guard !link.lowerIsElsewhere, let index = link.lowerIndex, !path.contains(index),
            let lower = try self.link(index)
        else { return nil }
        return try layer(lower, path: path)
    }

    private mutating func ports(of controller: Link) throws(MissingAnswers) -> [Link] {
        try links().filter { $0.controllerIndex == controller.index }
    }

    private mutating func layer(_ link: Link, path: [UInt32]) throws(MissingAnswers) -> Layer? {
        guard path.count <= Self.depthLimit, !path.contains(link.index) else { return nil }
        let (found, underlying) = try classify(link, above: path)
        return (found, [link] + underlying)
    }

    /// The port that stands for all: one that carries packets before one that does not, then an uplink, then a device
    /// before software; the lowest index where all are equal, so that the answer is always the same.
    private mutating func best(of ports: [Link], path: [UInt32]) throws(MissingAnswers) -> Layer? {
        let ordered = ports.sorted { ($0.readiness, $0.index) < ($1.readiness, $1.index) }
        var best: Layer?
        var bestRank = Int.max
        for port in ordered {
            if let best, best.chain.first?.readiness != port.readiness { return best }
            guard let layer = try layer(port, path: path), layer.class.rank < bestRank else { continue }
            best = layer
            bestRank = layer.class.rank
            // None can be better: the rest need not be asked.
            if bestRank == 0 { break }
        }
        return best
    }
}

extension Link {
    /// 0 for a port that carries packets, 1 for one that is only up, 2 for the rest.
    fileprivate var readiness: Int { isUp ? (hasCarrier ? 0 : 1) : 2 }
}

extension InterfaceClass {
    /// How poorly a port of this class stands for its controller.
    fileprivate var rank: Int {
        let rank =
            switch type {
            case .ethernet, .wiFi, .wwan: 0
            case .tunnel: 1
            case .wiredVirtual, .loopback, .other: 2
            }
        return isUplink ? rank : rank + 3
    }
}

/// The known types of interfaces, which seldom change and may require system calls.
///
/// Valid until a link changes. Its owner then creates a new one.
package struct InterfaceTable {
    /// An interface and the flags it lends to a path over it.
    package struct Entry: Hashable, Sendable {
        package var interface: NetworkInterface
        package var flags: NetworkReachabilityFlags
    }

    /// The interfaces that packets leave through.
    private var entries: [UInt32: (link: Link, entry: Entry)] = [:]

    package init() {}

    package mutating func entry(for link: Link, _ answers: inout Answers) throws(MissingAnswers) -> Entry {
        if let known = entries[link.index], known.link == link { return known.entry }
        let (found, underlying) = try answers.classify(link)
        var interface = NetworkInterface(link, found.type)
        for lower in underlying {
            interface.underlying.append(NetworkInterface(lower, try answers.classify(lower).class.type))
        }
        var flags: NetworkReachabilityFlags = found.isWWAN ? .isWWAN : []
        if link.hardwareType == .ppp || link.kind == "ppp" { flags.insert(.transientConnection) }
        let entry = Entry(interface: interface, flags: flags)
        entries[link.index] = (link, entry)
        return entry
    }
}

extension NetworkInterface {
    fileprivate init(_ link: Link, _ type: InterfaceType) {
        self.init(index: link.index, name: link.name, type: type)
    }
}
