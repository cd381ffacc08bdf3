import LinuxPrimitives
import Netlink

/// What stands in the way below a link that is fine itself: at the device it runs over, at the far end of a tunnel.
extension Judge {
    /// Layers followed below a link; the kernel itself refuses to stack more.
    private static let depthLimit = 8

    /// - Parameters:
    ///   - query: what was asked when the answer was this link.
    ///   - source: the source that packets have.
    mutating func lowerObstacle(
        of link: Link,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int = 0
    ) throws(MissingAnswers) -> Verdict.Cause? {
        guard depth < Self.depthLimit else { return nil }
        if let remote = link.tunnelRemote, !link.lowerIsElsewhere,
            let cause = try obstacle(toFarEnd: remote, of: link)
        {
            return cause
        }
        var lower = link.leavesByLower ? link.lowerIndex : nil
        if link.kind == "vrf" { return try obstacle(inside: link, query, from: source, depth: depth) }
        if link.needsPortWithCarrier {
            let ports = try answers.links().filter { $0.controllerIndex == link.index }
            return ports.contains { $0.obstacle == nil } ? nil : .noCarrier
        }
        if link.isModemChannel { lower = try answers.answer(to: .hardware(link)).hardware.lowerIndex }
        guard let lower, let lowerLink = try answers.link(lower) else { return nil }
        if let obstacle = lowerLink.obstacle { return obstacle }
        return try lowerObstacle(of: lowerLink, query, from: source, depth: depth + 1)
    }

    /// A tunnel keeps its carrier when what it runs over is gone; where it names its other end, that end is judged too.
    private mutating func obstacle(
        toFarEnd remote: WireAddress,
        of link: Link
    ) throws(MissingAnswers) -> Verdict.Cause? {
        // A tunnel whose other end is to be reached through the tunnel goes nowhere.
        guard !tunnels.contains(link.index) else { return .noRoute }
        tunnelEnds.insert(remote)
        tunnels.append(link.index)
        defer { tunnels.removeLast() }
        guard case .failure(let obstacle) = try verdict(on: AddressCheck(IPAddress(remote))).outcome else {
            return nil
        }
        return obstacle.cause
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
            if let obstacle = link.obstacle { return obstacle }
            return try lowerObstacle(of: link, query, from: source, depth: depth + 1)
        }
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

    /// Whether one of its ports has to have a carrier. A mesh itself always has one, a bridge until it gets its first port.
    fileprivate var needsPortWithCarrier: Bool { kind == "batadv" || kind == "bridge" }

    /// Whether whatever is sent through it is thrown away.
    var discardsPackets: Bool { kind == "dummy" || kind == "ifb" || kind == nil && isLoopback }

    /// Whether it is a link of a modem, which names the device it stands on in sysfs only.
    fileprivate var isModemChannel: Bool {
        kind == nil && !isLoopback && hardwareType == .none && parentBus == nil
    }
}
