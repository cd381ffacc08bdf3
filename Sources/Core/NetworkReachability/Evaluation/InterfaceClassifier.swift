package import Netlink

/// Determines the type of an interface with a decision list, a pure function of links and devices.
///
/// Sources: `rtnetlink(7)`, `ip-link(8)`, `<linux/if_arp.h>`, `<linux/nl80211.h>`. The kernel does not distinguish a
/// phone's tether from an ethernet adapter, and does not report the purpose of a ppp or tun link or whether Wi-Fi is
/// metered.
extension Answers {
    /// The maximum number of layers followed below a link. The kernel does not permit more (MAX_NEST_DEV).
    static var depthLimit: Int { 8 }

    /// Classifies one link.
    ///
    /// - Parameter above: The indices of the links above this one in a recursion.
    /// - Returns: The class and the lower links, from the next layer to the last: the device of a VLAN, the active port
    ///   of a bond, the port of a bridge that determined the class. The chain ends at a link without a lower link, at a
    ///   link whose lower link is in another network namespace, and before a link that it already contains.
    package mutating func classify(
        _ link: Link,
        above: [UInt32] = []
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
            // A link of a modem can have any name.
            if let index = hardware.lowerIndex, !path.contains(index), let below = try self.link(index),
                let lower = try layer(below, path: path), lower.class.isWWAN
            {
                return (lower.class, lower.chain)
            }
            return (InterfaceClass(link, hardware), [])
        }
    }

    /// A lower layer: its class, and the chain that begins with it.
    private typealias Layer = (class: InterfaceClass, chain: [Link])

    private mutating func lower(of link: Link, path: [UInt32]) throws(MissingAnswers) -> Layer? {
        // The index belongs to another namespace and may identify an unrelated link here.
        guard !link.isLowerInOtherNamespace, let index = link.lowerIndex, !path.contains(index),
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

    /// Returns the port that represents all ports. Ports that carry packets precede others, then uplinks, then hardware
    /// devices. If all are equal, the lowest index is selected, so the result is deterministic.
    private mutating func best(of ports: [Link], path: [UInt32]) throws(MissingAnswers) -> Layer? {
        let ordered = ports.sorted { ($0.readiness, $0.index) < ($1.readiness, $1.index) }
        var best: Layer?
        var bestRank = Int.max
        for port in ordered {
            if let best, best.chain.first?.readiness != port.readiness { return best }
            guard let layer = try layer(port, path: path), layer.class.rank < bestRank else { continue }
            best = layer
            bestRank = layer.class.rank
            // No better port exists, so the remaining ports are not examined.
            if bestRank == 0 { break }
        }
        return best
    }
}

extension Link {
    /// 0 for a port that is up with carrier, 1 for one that is only up, 2 for all others.
    fileprivate var readiness: Int { isUp ? (hasCarrier ? 0 : 1) : 2 }
}

extension InterfaceClass {
    /// The rank of a port of this class as a representative of its controller. Lower is better.
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

/// A cache of the types of interfaces, which rarely change and may require system calls to determine. Valid until a
/// link changes; the owner then replaces it.
package struct InterfaceTable {
    /// An interface, and the flags that a path over it has.
    package struct Entry: Hashable, Sendable {
        package var interface: NetworkInterface
        package var flags: NetworkReachabilityFlags
    }

    /// The interfaces that packets leave through, by index.
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
