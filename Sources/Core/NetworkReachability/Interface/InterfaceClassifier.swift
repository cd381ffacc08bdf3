package import Netlink

/// Tells what kind of network an interface is on: a pure decision list over what links and their devices say.
///
/// Sources: `rtnetlink(7)`, `ip-link(8)`, `<linux/if_arp.h>`, `<linux/nl80211.h>`. The kernel cannot tell a phone's tether
/// from an ethernet adapter, what a ppp or tun is for, or whether Wi-Fi is metered; nor can this.
package enum InterfaceClassifier {
    /// Layers followed below a link; the kernel itself refuses to stack more (MAX_NEST_DEV).
    package static let depthLimit = 8

    /// Classifies one link.
    ///
    /// - Returns: The class, and the links it runs over from the next layer down to the last: the device of a VLAN,
    ///   the active port of a bond, the port of a bridge that decided. The chain ends where a link runs over nothing,
    ///   where it continues in another network namespace, and before a link that is already part of it.
    package static func classify(
        _ link: Link,
        using lookup: LinkLookup
    ) -> (class: InterfaceClass, underlying: [Link]) {
        classify(link, above: [], using: lookup)
    }

    /// - Parameter above: Indices of the links that run over this one, in this walk.
    private static func classify(
        _ link: Link,
        above: [UInt32],
        using lookup: LinkLookup
    ) -> (class: InterfaceClass, underlying: [Link]) {
        let path = above + [link.index]
        switch ClassificationRule(for: link) {
        case .known(let known):
            return (known, [])
        case .stacked(let type):
            return (InterfaceClass(type), lower(of: link, path: path, using: lookup)?.chain ?? [])
        case .tunnel:
            guard let lower = lower(of: link, path: path, using: lookup) else { return (InterfaceClass(.tunnel), []) }
            return (
                InterfaceClass(type: .tunnel, isWWAN: lower.class.isWWAN, isUplink: lower.class.isUplink), lower.chain
            )
        case .lower:
            guard let lower = lower(of: link, path: path, using: lookup) else { return (InterfaceClass(.ethernet), []) }
            return (lower.class, lower.chain)
        case .activePort:
            let active = link.activePortIndex.flatMap(lookup.link).flatMap { layer($0, path: path, using: lookup) }
            let port = active ?? best(of: lookup.ports(link.index), path: path, using: lookup)
            return (port?.class ?? InterfaceClass(.ethernet), port?.chain ?? [])
        case .bridgePorts:
            let ports = lookup.ports(link.index).filter { !["veth", "netkit", "tun"].contains($0.kind) }
            let port = best(of: ports, path: path, using: lookup)
            return (port?.class ?? InterfaceClass(.wiredVirtual), port?.chain ?? [])
        case .hardware:
            let hardware = lookup.hardware(link)
            // A link of a modem may have any name.
            if let index = hardware.lowerIndex, !path.contains(index), let below = lookup.link(index),
                let lower = layer(below, path: path, using: lookup), lower.class.isWWAN
            {
                return (lower.class, lower.chain)
            }
            return (InterfaceClass(link, hardware), [])
        }
    }

    /// One layer below another: its class, and the chain that begins with it.
    private typealias Layer = (class: InterfaceClass, chain: [Link])

    private static func lower(of link: Link, path: [UInt32], using lookup: LinkLookup) -> Layer? {
        // An index of another namespace may be that of an unrelated link here.
        guard !link.lowerIsElsewhere, let index = link.lowerIndex, !path.contains(index) else { return nil }
        return lookup.link(index).flatMap { layer($0, path: path, using: lookup) }
    }

    private static func layer(_ link: Link, path: [UInt32], using lookup: LinkLookup) -> Layer? {
        guard path.count <= depthLimit, !path.contains(link.index) else { return nil }
        let (found, underlying) = classify(link, above: path, using: lookup)
        return (found, [link] + underlying)
    }

    /// The port that stands for all: one that carries packets before one that does not, then an uplink, then a device
    /// before software; the lowest index where all are equal, so that the answer is always the same.
    private static func best(of ports: [Link], path: [UInt32], using lookup: LinkLookup) -> Layer? {
        let ordered = ports.sorted { ($0.readiness, $0.index) < ($1.readiness, $1.index) }
        var best: Layer?
        var bestRank = Int.max
        for port in ordered {
            if let best, best.chain.first?.readiness != port.readiness { return best }
            guard let layer = layer(port, path: path, using: lookup), layer.class.rank < bestRank else { continue }
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
