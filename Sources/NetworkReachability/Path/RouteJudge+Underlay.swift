import Netlink

extension RouteJudge {
    /// A tunnel keeps its carrier when what it runs over is gone; where it names its other end, that end is judged too.
    mutating func underlayObstacle(
        of link: LinkState
    ) throws(NetlinkError) -> Verdict.Cause? {
        if let remote = link.remote {
            // A tunnel whose other end is to be reached through the tunnel goes nowhere.
            guard !tunnels.contains(link.index) else { return .noRoute }
            links.underlay.insert(remote)
            var judge = RouteJudge(
                kernel: kernel,
                links: links,
                expectation: expectation,
                tunnels: tunnels + [link.index]
            )
            defer { links = judge.links }
            var inquiries = [Inquiry(IPAddress(remote), mark: 0)]
            if case .failure(let obstacle)? = try judge.judge(&inquiries).first?.outcome { return obstacle.cause }
        }
        guard let lower = link.lower else { return nil }
        return try links.state(index: lower)?.obstacle
    }
}
