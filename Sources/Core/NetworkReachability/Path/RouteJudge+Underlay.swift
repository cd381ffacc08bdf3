import LinuxPrimitives
import Netlink

extension RouteJudge {
    /// Layers followed below a link; the kernel itself refuses to stack more.
    private static let depthLimit = 8

    /// What stands in the way below a link that is fine itself.
    ///
    /// - Parameters:
    ///   - query: what was asked when the answer was this link.
    ///   - source: the source that packets have.
    mutating func underlayObstacle(
        of link: LinkState,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int = 0
    ) throws(NetlinkError) -> Verdict.Cause? {
        guard depth < Self.depthLimit else { return nil }
        if let remote = link.remote, let cause = try obstacle(toFarEnd: remote, of: link) { return cause }
        var lower = link.lower
        switch link.peculiarity {
        case .vrf: return try obstacle(inside: link, query, from: source, depth: depth)
        case .ports: return try portObstacle(of: link)
        case .modemChannel: lower = try modemDevice(below: link)
        case .sink, nil: break
        }
        guard let lower, let state = try links.state(index: lower) else { return nil }
        if let obstacle = state.obstacle { return obstacle }
        return try underlayObstacle(of: state, query, from: source, depth: depth + 1)
    }

    /// A tunnel keeps its carrier when what it runs over is gone; where it names its other end, that end is judged too.
    private mutating func obstacle(
        toFarEnd remote: WireAddress,
        of link: LinkState
    ) throws(NetlinkError) -> Verdict.Cause? {
        // A tunnel whose other end is to be reached through the tunnel goes nowhere.
        guard !tunnels.contains(link.index) else { return .noRoute }
        links.underlay.insert(remote)
        var judge = RouteJudge(kernel: kernel, links: links, expectation: expectation, tunnels: tunnels + [link.index])
        defer { links = judge.links }
        var inquiries = [Inquiry(IPAddress(remote), mark: 0)]
        guard case .failure(let obstacle)? = try judge.judge(&inquiries).first?.outcome else { return nil }
        return obstacle.cause
    }

    /// A route to a VRF hands packets over to the VRF's own routes; the VRF itself always has a carrier.
    private mutating func obstacle(
        inside vrf: LinkState,
        _ query: RouteQuery,
        from source: WireAddress,
        depth: Int
    ) throws(NetlinkError) -> Verdict.Cause? {
        var question = RouteQuery(destination: query.destination, outputInterface: vrf.index, mark: query.mark)
        if query.destination.family == .ipv4 { question.source = source }
        switch try links.routes([question]).first {
        case nil: return nil
        case .failure(let error): return Verdict.Obstacle(error).cause
        case .success(let route):
            guard route.kind.carriesPackets else { return .refused }
            if route.kind == .local { return nil }
            guard let leg = route.nextHop, leg.interface != vrf.index, let link = try links.state(index: leg.interface)
            else { return .noRoute }
            if let obstacle = link.obstacle { return obstacle }
            return try underlayObstacle(of: link, query, from: source, depth: depth + 1)
        }
    }

    private mutating func modemDevice(below link: LinkState) throws(NetlinkError) -> UInt32? {
        guard let link = try links.link(index: link.index) else { return nil }
        return kernel.hardware(of: link).lowerIndex
    }

    private mutating func portObstacle(of link: LinkState) throws(NetlinkError) -> Verdict.Cause? {
        let ports = try links.links().filter { $0.controllerIndex == link.index }
        return ports.contains { $0.obstacle == nil } ? nil : .noCarrier
    }

    /// Whether packets take a default route through a device that throws them away. Narrower routes through such a device are
    /// let be: containers and clusters have them for services that packet filters answer.
    mutating func isThrownAway(
        _ query: RouteQuery,
        _ route: Route,
        by link: LinkState,
        entry: Route?
    ) throws(NetlinkError) -> Bool {
        guard link.peculiarity == .sink, route.kind == .unicast else { return false }
        var entry = entry
        if entry == nil {
            var query = query
            query.wantsEntry = true
            if case .success(let answer)? = try links.routes([query]).first { entry = answer }
        }
        // Halves of everything (0.0.0.0/1) and all public addresses of IPv6 (2000::/3) are as wide as a default route.
        return (entry?.prefixLength ?? 0) < 4
    }
}
