import Netlink

extension RouteJudge {
    /// A tunnel keeps its carrier when what it runs over is gone; where it names its other end, that end is judged too.
    mutating func underlayObstacle(
        of link: Link
    ) throws(NetlinkError) -> Verdict.Cause? {
        guard !link.lowerIsElsewhere else { return nil }
        if let remote = link.tunnelRemote {
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
            if case .failure(let obstacle)? = try judge.judge([Question(address: IPAddress(remote), mark: 0)]).first?
                .outcome
            {
                return obstacle.cause
            }
        }
        if link.kind == "vxlan", let lower = link.lowerIndex { return try links.link(index: lower)?.obstacle }
        return nil
    }
}
