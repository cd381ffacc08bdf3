package import LinuxSupport
package import Netlink

/// Obstacles below a link that is itself usable: at its lower device, its ports, or the far end of its tunnel.
extension PathEvaluator {
    /// Returns the cause that blocks packets below a link; nil if no cause is found.
    ///
    /// - Parameters:
    ///   - query: The query whose answer contains this link.
    ///   - source: The source address of the packets.
    mutating func lowerObstacle(
        of link: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int = 0
    ) throws(MissingAnswers) -> Verdict.Cause? {
        guard depth < Answers.depthLimit else { return nil }
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
        // Links on the same lower device exchange packets with each other, even if the device discards packets to
        // others.
        let isDiscarded =
            link.servesSiblings ? try isDiscarded(query, by: lowerLink) : lowerLink.discardsPackets
        return isDiscarded
            ? .discarded : try obstacle(at: lowerLink, query, from: source, depth: depth)
    }

    /// Returns the number of carrier losses of the device through which the packets of a link leave.
    mutating func carrierLosses(of link: Link, depth: Int = 0) throws(MissingAnswers) -> UInt32 {
        guard depth < Answers.depthLimit, link.leavesByLower, let index = link.lowerIndex,
            let lower = try answers.link(index)
        else { return link.carrierLosses }
        return try carrierLosses(of: lower, depth: depth + 1)
    }

    /// Returns the obstacle at a lower link or below it.
    private mutating func obstacle(
        at link: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int
    ) throws(MissingAnswers) -> Verdict.Cause? {
        if let obstacle = link.obstacle { return obstacle }
        return try lowerObstacle(of: link, query, from: source, depth: depth + 1)
    }

    /// Returns the obstacle at the ports of a controller. The active port decides; if the kernel reports none, the best
    /// port. A bond replaces an active port that has lost its carrier, so such a port does not decide.
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
        // A mesh interface always has carrier. A bridge has carrier until it gets its first port.
        var worst = ports.isEmpty ? Verdict.Cause.noCarrier : nil
        // Ports without lower links are judged first, because they need no further query.
        for port in ports.filter({ !$0.runsOverOthers }) + ports.filter(\.runsOverOthers) {
            guard
                let cause = port.discardsPackets
                    ? .discarded : try obstacle(at: port, query, from: source, depth: depth)
            else { return nil }
            worst = max(worst ?? cause, cause)
        }
        return worst
    }

    /// Returns the obstacle inside a VRF. A route to a VRF passes packets to the VRF's own routes. The VRF itself
    /// always has carrier.
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
            if try isDiscarded(question, by: link) { return .discarded }
            return try obstacle(at: link, query, from: source, depth: depth)
        }
    }
}

// MARK: - Tunnels

extension PathEvaluator {
    /// Returns the far ends to which a tunnel sends packets for a destination. Nil if the link is not a tunnel or its
    /// far ends are not known. Empty if no peer accepts the destination.
    package mutating func farEnds(
        of link: Link,
        for destination: WireAddress
    ) throws(MissingAnswers) -> [TunnelFarEnd]? {
        // The outer packets travel in another network namespace.
        if link.isLowerInOtherNamespace { return nil }
        if let remote = link.tunnelRemote { return [TunnelFarEnd(remote, mark: link.tunnelMark)] }
        switch link.kind {
        case "wireguard", "xfrm":
            let peers = try answers.answer(to: .peers(link: link.index)).peers
            return peers.map { TunnelFarEnd.chosen(among: $0, for: destination) }
        case "vxlan":
            let ends = try answers.answer(to: .forwarding(link: link.index)).forwarding
            // A multicast group has no single address to evaluator.
            let isKnown = !ends.isEmpty && !ends.contains { $0.address?.isMulticast ?? true }
            return isKnown ? ends : nil
        default: return nil
        }
    }

    /// Returns the obstacle on the way to the far ends of a tunnel. A tunnel keeps its carrier if the path below it is
    /// lost. One far end with a path is sufficient.
    private mutating func obstacle(
        toAnyOf ends: [TunnelFarEnd],
        of link: Link
    ) throws(MissingAnswers) -> Verdict.Cause? {
        // WireGuard rejects packets that no peer accepts, and packets to a peer without an endpoint (EHOSTUNREACH). An
        // xfrm interface rejects packets that no policy covers.
        var worst: Verdict.Cause? = ends.isEmpty ? .unreachable : nil
        for end in ends {
            guard let cause = try obstacle(to: end, of: link) else { return nil }
            worst = max(worst ?? cause, cause)
        }
        return worst
    }

    private mutating func obstacle(to end: TunnelFarEnd, of link: Link) throws(MissingAnswers) -> Verdict.Cause? {
        guard let address = end.address else { return .unreachable }
        // A tunnel whose far end is routed through the tunnel itself does not work. For IPsec the mark of the outer
        // packets is not known (XFRMA_SET_MARK), and a different mark may select a different route.
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

// MARK: - Properties of links

extension Link {
    /// The reason why no packet leaves through this link; nil if the link is usable. Uses the current IFF_UP and
    /// IFF_LOWER_UP. The operational state can be late by up to a second, and is used only for `dormant`.
    package var obstacle: Verdict.Cause? {
        if !isUp { return .linkDown }
        if !hasCarrier { return .noCarrier }
        return isDormant ? .dormant : nil
    }

    /// A Boolean value that indicates whether packets leave through IFLA_LINK independently of the routes. Some of
    /// these links follow the carrier of the lower link automatically. A VLAN with loose binding and the links of a
    /// modem do not. For veth and netkit, IFLA_LINK is the other end.
    fileprivate var leavesByLower: Bool {
        if isLowerInOtherNamespace { return false }
        return switch kind {
        case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "ipoib", "dsa", "rmnet", "virt_wifi", "vxlan":
            true
        default: false
        }
    }

    /// A Boolean value that indicates whether links on the same lower device exchange packets without that device.
    fileprivate var servesSiblings: Bool { ["macvlan", "macvtap", "ipvlan", "ipvtap"].contains(kind) }

    /// A Boolean value that indicates whether the outer packets of a tunnel are bound to its IFLA_LINK.
    fileprivate var bindsOuterPackets: Bool {
        switch kind {
        case "vxlan", "ipip", "sit", "ip6tnl", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "vti",
            "vti6":
            true
        default: false
        }
    }

    /// A Boolean value that indicates whether packets leave through one of the link's ports.
    package var hasPorts: Bool { ["bridge", "bond", "team", "batadv"].contains(kind) }

    /// A Boolean value that indicates whether judging the link requires queries about other links or addresses.
    fileprivate var runsOverOthers: Bool { leavesByLower || hasPorts || tunnelRemote != nil || kind == "vxlan" }

    /// A Boolean value that indicates whether the link discards all packets.
    package var discardsPackets: Bool {
        switch kind {
        case "dummy", "ifb", "nlmon", "vsockmon": true
        case nil: isLoopback
        default: false
        }
    }

    /// A Boolean value that indicates whether the link belongs to a modem, whose lower device is only listed in sysfs.
    fileprivate var isModemChannel: Bool {
        kind == nil && !isLoopback && hardwareType == .none && parentBus == nil
    }
}
