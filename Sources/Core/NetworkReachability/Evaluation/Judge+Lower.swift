package import LinuxSupport
package import Netlink

/// Obstacles below a link that is fine itself: at the device it runs over, at its ports, at the far end of a tunnel.
extension Judge {
    /// Layers followed below a link; the kernel itself refuses to stack more.
    private static let depthLimit = 8

    /// - Parameters:
    ///   - query: The query that was answered with this link.
    ///   - source: The source address of the packets.
    mutating func lowerObstacle(
        of link: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int = 0
    ) throws(MissingAnswers) -> Verdict.Cause? {
        guard depth < Self.depthLimit else { return nil }
        if let ends = try farEnds(of: link, for: query.destination),
            let cause = try obstacle(toAnyOf: ends, of: link)
        {
            return cause
        }
        if link.kind == "vrf" { return try obstacle(inside: link, query, from: source, depth: depth) }
        if link.hasPorts { return try obstacle(atPortsOf: link, query, from: source, depth: depth) }
        let lower =
            link.isModemChannel
            ? try answers.answer(to: .hardware(link)).hardware.lowerIndex : link.leavesByLower ? link.lowerIndex : nil
        guard let lower, let lowerLink = try answers.link(lower) else { return nil }
        // Stations on the same device answer each other, whatever the device does with their packets to others.
        let isThrownAway =
            link.servesSiblings ? try isThrownAway(query, by: lowerLink) : lowerLink.discardsPackets
        return isThrownAway
            ? .discarded : try obstacle(at: lowerLink, query, from: source, depth: depth)
    }

    /// How often the device that packets of a link leave by has lost its carrier.
    mutating func carrierLosses(of link: Link, depth: Int = 0) throws(MissingAnswers) -> UInt32 {
        guard depth < Self.depthLimit, link.leavesByLower, let index = link.lowerIndex,
            let lower = try answers.link(index)
        else { return link.carrierLosses }
        return try carrierLosses(of: lower, depth: depth + 1)
    }

    /// What stands in the way at a lower link, or below it.
    private mutating func obstacle(
        at link: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int
    ) throws(MissingAnswers) -> Verdict.Cause? {
        if let obstacle = link.obstacle { return obstacle }
        return try lowerObstacle(of: link, query, from: source, depth: depth + 1)
    }

    /// A controller is as good as its active port, or as the best of its ports if the kernel names no active one. A bond replaces an active
    /// port that has lost its carrier, and so that port decides nothing.
    private mutating func obstacle(
        atPortsOf controller: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int
    ) throws(MissingAnswers) -> Verdict.Cause? {
        var ports = try answers.links().filter { $0.controllerIndex == controller.index }
        if let active = ports.first(where: { $0.index == controller.activePortIndex && $0.obstacle == nil }) {
            ports = [active]
        }
        // A mesh itself always has a carrier, a bridge until it gets its first port.
        var worst = ports.isEmpty ? Verdict.Cause.noCarrier : nil
        // A port that runs over no other link takes no further question.
        for port in ports.filter({ !$0.runsOverOthers }) + ports.filter(\.runsOverOthers) {
            guard
                let cause = port.discardsPackets
                    ? .discarded : try obstacle(at: port, query, from: source, depth: depth)
            else { return nil }
            worst = max(worst ?? cause, cause)
        }
        return worst
    }

    /// A route to a VRF hands packets over to the VRF's own routes; the VRF itself always has a carrier.
    private mutating func obstacle(
        inside vrf: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int
    ) throws(MissingAnswers) -> Verdict.Cause? {
        var question = RouteQuery(destination: query.destination, outputInterface: vrf.index, mark: query.mark)
        if query.destination.family == .ipv4 { question.source = source }
        switch try answers.route(question) {
        case .failure(let error): return Verdict.Obstacle(error).cause
        case .success(let route):
            guard route.kind.carriesPackets else { return .refused }
            if route.kind == .local { return nil }
            guard let hop = route.nextHop, hop.interface != vrf.index, let link = try answers.link(hop.interface)
            else { return .noRoute }
            if try isThrownAway(question, by: link) { return .discarded }
            return try obstacle(at: link, query, from: source, depth: depth)
        }
    }
}

// MARK: - Tunnels

extension Judge {
    /// The far ends that a tunnel sends packets for a destination to; nil if the link is no tunnel, or if its far ends are not known.
    /// Empty if no peer accepts the destination.
    package mutating func farEnds(
        of link: Link,
        for destination: WireAddress
    ) throws(MissingAnswers) -> [TunnelFarEnd]? {
        // Its outer packets travel in another network namespace.
        if link.lowerIsElsewhere { return nil }
        if let remote = link.tunnelRemote { return [TunnelFarEnd(remote, mark: link.tunnelMark)] }
        switch link.kind {
        case "wireguard", "xfrm":
            let peers = try answers.answer(to: .peers(link: link.index)).peers
            return peers.map { TunnelFarEnd.chosen(among: $0, for: destination) }
        case "vxlan":
            let ends = try answers.answer(to: .forwarding(link: link.index)).forwarding
            // A group has no single address to judge.
            let isKnown = !ends.isEmpty && !ends.contains { $0.address?.isMulticast ?? true }
            return isKnown ? ends : nil
        default: return nil
        }
    }

    /// A tunnel keeps its carrier if the path below it is lost. One far end with a path suffices.
    private mutating func obstacle(
        toAnyOf ends: [TunnelFarEnd],
        of link: Link
    ) throws(MissingAnswers) -> Verdict.Cause? {
        // WireGuard refuses packets that no peer accepts, and packets to a peer without an endpoint (EHOSTUNREACH); an xfrm interface
        // refuses packets that no policy covers.
        var worst: Verdict.Cause? = ends.isEmpty ? .unreachable : nil
        for end in ends {
            guard let cause = try obstacle(to: end, of: link) else { return nil }
            worst = max(worst ?? cause, cause)
        }
        return worst
    }

    private mutating func obstacle(to end: TunnelFarEnd, of link: Link) throws(MissingAnswers) -> Verdict.Cause? {
        guard let address = end.address else { return .unreachable }
        // A tunnel whose far end is to be reached through the tunnel leads nowhere. Of IPsec the mark of the outer packets is not known
        // (XFRMA_SET_MARK), and another one may lead elsewhere.
        guard !tunnels.contains(link.index) else { return link.kind == "xfrm" ? nil : .noRoute }
        tunnelEnds.insert(address)
        tunnels.append(link.index)
        defer { tunnels.removeLast() }
        var constraints = PathConstraints(mark: end.mark)
        constraints.source = link.tunnelLocal.map { IPAddress($0) }
        constraints.interface = link.bindsOuterPackets ? link.lowerIndex.map(String.init) : nil
        guard case .failure(let obstacle) = try verdict(on: AddressCheck(IPAddress(address), constraints)).outcome
        else { return nil }
        return obstacle.cause
    }
}

// MARK: - What links say of themselves

extension Link {
    /// Why no packet leaves through this link; nil when one does. Judged by what is true when asked: IFF_UP and
    /// IFF_LOWER_UP. The operational state lags behind by up to a second, except for `dormant`.
    package var obstacle: Verdict.Cause? {
        if !isUp { return .linkDown }
        if !hasCarrier { return .noCarrier }
        return isDormant ? .dormant : nil
    }

    /// Whether packets leave by IFLA_LINK whatever the routes are. Some of these follow its carrier by themselves; a VLAN with
    /// loose binding and the links of a modem do not. Of veth and netkit it is the other end.
    fileprivate var leavesByLower: Bool {
        if lowerIsElsewhere { return false }
        return switch kind {
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "ipoib", "dsa", "rmnet", "virt_wifi", "vxlan":
            true
        default: false
        }
    }

    /// Whether links on the same lower device exchange packets without it.
    fileprivate var servesSiblings: Bool { ["macvlan", "macvtap", "ipvlan", "ipvtap"].contains(kind) }

    /// Whether IFLA_LINK of a tunnel is what its outer packets are bound to.
    fileprivate var bindsOuterPackets: Bool {
        switch kind {
        case "vxlan", "ipip", "sit", "ip6tnl", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "vti",
            "vti6":
            true
        default: false
        }
    }

    /// Whether packets leave by one of its ports.
    package var hasPorts: Bool { ["bridge", "bond", "team", "batadv"].contains(kind) }

    /// Whether to judge it takes questions about other links or addresses.
    fileprivate var runsOverOthers: Bool { leavesByLower || hasPorts || tunnelRemote != nil || kind == "vxlan" }

    /// Whether whatever is sent through it is thrown away.
    package var discardsPackets: Bool {
        switch kind {
        case "dummy", "ifb", "nlmon", "vsockmon": true
        case nil: isLoopback
        default: false
        }
    }

    /// Whether the link belongs to a modem, whose lower device is only in sysfs.
    fileprivate var isModemChannel: Bool {
        kind == nil && !isLoopback && hardwareType == .none && parentBus == nil
    }
}
