import Netlink

/// Turns what the kernel says of addresses into the path of a target.
struct PathEvaluator {
    private let kernel: any KernelConnection
    private var links: LinkTable
    private var interfaces: InterfaceTable

    /// - Parameter interfaces: what earlier evaluations learned of interfaces, as long as no link has changed.
    init(kernel: any KernelConnection, interfaces: InterfaceTable) {
        self.kernel = kernel
        self.interfaces = interfaces
        links = LinkTable(kernel)
    }

    /// Notifications can come before the state they announce; after a link has been asked for, the state is there. So no way
    /// is looked up before that: the links that packets left through last are asked for, or the loopback link.
    private var expected: [UInt32] { interfaces.lastUsed.isEmpty ? [1] : interfaces.lastUsed }

    /// What is known of interfaces now, for the next evaluation.
    var learned: InterfaceTable { interfaces }

    /// How many routes were looked up so far.
    var lookups: Int { links.lookups }

    /// The path to the network at large: the majority of `addresses` of one family, IPv4 before IPv6.
    ///
    /// - Parameter isQuick: IPv6 is asked about only if IPv4 does not decide.
    mutating func path(
        toMajorityOf addresses: [IPAddress],
        mark: UInt32,
        isQuick: Bool
    ) throws(NetlinkError) -> Evaluation {
        var votes = [Vote(addresses.filter { !$0.isIPv6 }), Vote(addresses.filter(\.isIPv6))]
        if isQuick { try decide(&votes[0...0], mark: mark) }
        let isEnough = isQuick && votes[0].isWon
        if !isEnough { try decide(&votes[0...], mark: mark) }
        let winner = votes.first(where: \.isWon)
        let verdicts = winner?.mostCommonWay ?? votes.flatMap(\.verdicts)
        var evaluation = try evaluation(of: verdicts, isSatisfied: winner != nil)
        evaluation.lifetime = votes.flatMap(\.verdicts).compactMap(\.lifetime).min()
        evaluation.path.supportsIPv4 = votes[0].isWon
        evaluation.path.supportsIPv6 = votes[1].isWon
        evaluation.isQuick = isEnough
        return evaluation
    }

    /// Asks until every vote is decided, those of all votes in one go.
    private mutating func decide(_ votes: inout ArraySlice<Vote>, mark: UInt32) throws(NetlinkError) {
        while votes.contains(where: { !$0.isDecided }) {
            let ballots = votes.map { $0.isDecided ? [] : $0.next }
            var verdicts = try judge(ballots.flatMap(\.self), mark: mark)[...]
            for (index, ballot) in zip(votes.indices, ballots) {
                votes[index].count(verdicts.prefix(ballot.count))
                verdicts = verdicts.dropFirst(ballot.count)
            }
        }
    }

    /// The path to a host with these addresses: the first of them that has one.
    mutating func path(toAnyOf addresses: [IPAddress], mark: UInt32) throws(NetlinkError) -> Evaluation {
        let verdicts = try judge(addresses, mark: mark)
        let satisfied = verdicts.filter(\.isSatisfied)
        var evaluation = try evaluation(of: satisfied.isEmpty ? verdicts : satisfied, isSatisfied: !satisfied.isEmpty)
        evaluation.lifetime = verdicts.compactMap(\.lifetime).min()
        evaluation.path.supportsIPv4 = satisfied.contains { !$0.destination.isIPv6 }
        evaluation.path.supportsIPv6 = satisfied.contains { $0.destination.isIPv6 }
        return evaluation
    }

    private mutating func judge(_ addresses: [IPAddress], mark: UInt32) throws(NetlinkError) -> [Verdict] {
        var judge = RouteJudge(kernel: kernel, mark: mark, links: links, expected: expected)
        defer { links = judge.links }
        return try judge.judge(addresses)
    }

    /// The path of the first verdict that is satisfied or, if none may be, of the obstacle that explains most.
    private mutating func evaluation(of verdicts: [Verdict], isSatisfied: Bool) throws(NetlinkError) -> Evaluation {
        var worst: (destination: IPAddress, obstacle: Verdict.Obstacle)?
        for verdict in verdicts {
            switch verdict.outcome {
            case .success(let way):
                if isSatisfied { return Evaluation(path: try path(way, to: verdict.destination)) }
            case .failure(let obstacle):
                if let known = worst, known.obstacle.weight >= obstacle.weight { continue }
                worst = (verdict.destination, obstacle)
            }
        }
        guard let worst else { return Evaluation(path: NetworkPath(flags: [], reason: .noRoute)) }
        return Evaluation(path: try path(explained(worst.obstacle), to: worst.destination))
    }

    private mutating func path(
        _ way: Verdict.Way,
        to destination: IPAddress
    ) throws(NetlinkError) -> NetworkPath {
        var path = NetworkPath(flags: .reachable)
        path.destination = destination
        path.gateway = way.gateway.map { IPAddress($0) }
        guard let link = try links.link(index: way.link) else { return NetworkPath(flags: [], reason: .noInterface) }
        path.source = IPAddress(way.source, zone: way.source.isLinkLocal ? link.name : nil)
        path.table = way.table
        path.mtu = way.mtu
        interfaces.noteUse(of: link)
        let known = interfaces.entry(for: link, kernel: kernel)
        path.interface = known.interface
        if way.isLocal {
            path.flags?.insert(.isLocalAddress)
        } else if way.gateway == nil {
            path.flags?.insert(.isDirect)
        }
        path.flags?.formUnion(known.flags)
        return path
    }

    private mutating func path(
        _ obstacle: Verdict.Obstacle,
        to destination: IPAddress
    ) throws(NetlinkError) -> NetworkPath {
        var path = NetworkPath(flags: [], reason: obstacle.reason)
        path.destination = destination
        path.gateway = obstacle.gateway.map { IPAddress($0) }
        path.source = obstacle.source.map { IPAddress($0) }
        guard let index = obstacle.link, let link = try links.link(index: index) else { return path }
        let known = interfaces.entry(for: link, kernel: kernel)
        path.interface = known.interface
        if obstacle.reason == .dormant { path.flags = known.flags.union([.reachable, .connectionRequired]) }
        return path
    }

    /// Says more than "no route" where the links do: routes go when their link does, and leave no trace.
    private mutating func explained(_ obstacle: Verdict.Obstacle) throws(NetlinkError) -> Verdict.Obstacle {
        guard obstacle.reason == .noRoute, !links.hasCarrierSomewhere else { return obstacle }
        let candidates = try links.links().filter { !$0.isLoopback }
        let up = candidates.filter(\.isUp)
        if candidates.isEmpty { return Verdict.Obstacle(.noInterface) }
        let only = candidates.count == 1 ? candidates.first?.index : nil
        if up.isEmpty { return Verdict.Obstacle(.linkDown, link: only) }
        if !up.contains(where: \.hasCarrier) { return Verdict.Obstacle(.noCarrier, link: only) }
        return obstacle
    }
}
