import LinuxPrimitives
import Netlink

/// Turns what the kernel says of addresses into the path of a target, over one connection.
struct PathEvaluator {
    private var judge: RouteJudge
    /// What is known of interfaces, for the next look too as long as no link has changed.
    var interfaces = InterfaceTable()
    private var recent = RecentPaths()

    init(kernel: any KernelConnection) {
        judge = RouteJudge(kernel: kernel, links: LinkTable(kernel))
    }

    var kernel: any KernelConnection { judge.kernel }

    /// The links asked for since the look began.
    var links: LinkTable {
        _read { yield judge.links }
        _modify { yield &judge.links }
    }

    /// Whether what is likely to be answered is asked about at once.
    var isExpectant: Bool {
        get { judge.expectation.isLikely }
        set { judge.expectation.isLikely = newValue }
    }

    /// One look: what links were at the last one says nothing about it.
    ///
    /// - Parameters:
    ///   - lookups: counts the routes looked up.
    ///   - underlay: gets the far ends of tunnels that were asked about too.
    mutating func look<Answer>(
        _ question: (inout PathEvaluator) throws(NetlinkError) -> Answer,
        _ lookups: inout Int,
        _ underlay: inout Set<WireAddress>
    ) throws(NetlinkError) -> Answer {
        judge.links.removeAll()
        isExpectant = true
        defer { lookups += links.lookups }
        let answer = try question(&self)
        if !links.underlay.isEmpty { underlay.formUnion(links.underlay) }
        return answer
    }

    /// One evaluation for each poll, in the same order; all polls are asked about together.
    mutating func evaluate(_ polls: inout [Poll]) throws(NetlinkError) -> [Evaluation] {
        while !polls.isEmpty {
            var inquiries: [Inquiry] = []
            // Most ask for as many.
            inquiries.reserveCapacity(polls.count * polls[0].first.next.count)
            for index in polls.indices { polls[index].addNext(to: &inquiries) }
            if inquiries.isEmpty { break }
            var verdicts = try judge(&inquiries)[...]
            for index in polls.indices { polls[index].count(&verdicts) }
        }
        var evaluations: [Evaluation] = []
        evaluations.reserveCapacity(polls.count)
        for index in polls.indices { evaluations.append(try evaluation(of: polls[index].result)) }
        return evaluations
    }

    /// One evaluation for each inquiry, in the same order: what a poll of one address comes to, without its cost, for there
    /// may be very many of them.
    mutating func evaluate(_ inquiries: inout [Inquiry]) throws(NetlinkError) -> [Evaluation] {
        if inquiries.isEmpty { return [] }
        var evaluations: [Evaluation] = []
        evaluations.reserveCapacity(inquiries.count)
        var latest: (verdict: Verdict, path: NetworkPath)?
        for verdict in try judge(&inquiries) {
            // Most leave the same way as the one before.
            if let latest, latest.verdict.leads(likewise: verdict) {
                var path = latest.path
                path.destination = verdict.destination
                evaluations.append(Evaluation(path: path, lifetime: verdict.lifetime))
                continue
            }
            var (common, destination) = try path(of: verdict)
            common.supportsIPv4 = verdict.isSatisfied && !verdict.destination.isIPv6
            common.supportsIPv6 = verdict.isSatisfied && verdict.destination.isIPv6
            let path = recent.path(common, to: destination)
            if destination != nil { latest = (verdict, path) }
            evaluations.append(Evaluation(path: path, lifetime: verdict.lifetime))
        }
        return evaluations
    }

    mutating func judge(_ inquiries: inout [Inquiry]) throws(NetlinkError) -> [Verdict] {
        let verdicts = try judge.judge(&inquiries)
        if verdicts.contains(where: \.destination.isIPv6) {
            judge.expectation.leadsOverIPv6 = verdicts.contains { $0.destination.isIPv6 && $0.isSatisfied }
        }
        return verdicts
    }

    mutating func evaluation(of result: PollResult) throws(NetlinkError) -> Evaluation {
        var (common, destination) = try path(of: result.deciding)
        common.supportsIPv4 = result.supportsIPv4
        common.supportsIPv6 = result.supportsIPv6
        return Evaluation(
            path: recent.path(common, to: destination),
            leavesIPv6Open: result.leavesIPv6Open,
            lifetime: result.lifetime
        )
    }

    private mutating func path(
        of verdict: Verdict?
    ) throws(NetlinkError) -> (common: NetworkPath.Common, destination: IPAddress?) {
        guard let verdict else { return (try common(explained(Verdict.Obstacle(.noRoute))), nil) }
        switch verdict.outcome {
        case .success(let way): return try path(way, to: verdict.destination)
        case .failure(let obstacle): return (try common(explained(obstacle)), verdict.destination)
        }
    }

    private mutating func path(
        _ way: Verdict.Way,
        to destination: IPAddress
    ) throws(NetlinkError) -> (common: NetworkPath.Common, destination: IPAddress?) {
        guard let link = try links.link(index: way.link) else {
            return (NetworkPath.Common(flags: [], reason: .noInterface), nil)
        }
        judge.expectation.note(link: way.link, source: way.source)
        let known = interfaces.entry(for: link, kernel: kernel)
        var common = NetworkPath.Common(flags: known.flags.union(.reachable), interface: known.interface)
        common.gateway = way.gateway.map { IPAddress($0) }
        common.source = IPAddress(way.source, zone: way.source.isLinkLocal ? link.name : nil)
        common.table = way.table
        common.mtu = way.mtu
        if way.isLocal {
            common.flags?.insert(.isLocalAddress)
        } else if way.gateway == nil {
            common.flags?.insert(.isDirect)
        }
        return (common, destination)
    }

    private mutating func common(_ obstacle: Verdict.Obstacle) throws(NetlinkError) -> NetworkPath.Common {
        var common = NetworkPath.Common(flags: [], reason: obstacle.reason)
        common.gateway = obstacle.gateway.map { IPAddress($0) }
        // One that no answer comes back to is none.
        common.source = obstacle.cause == .noSourceAddress ? nil : obstacle.source.map { IPAddress($0) }
        guard let index = obstacle.link, let link = try links.link(index: index) else { return common }
        let known = interfaces.entry(for: link, kernel: kernel)
        common.interface = known.interface
        if obstacle.cause == .dormant { common.flags = known.flags.union([.reachable, .connectionRequired]) }
        return common
    }

    /// Says more than "no route" where the links do: routes go when their link does, and leave no trace.
    mutating func explained(_ obstacle: Verdict.Obstacle) throws(NetlinkError) -> Verdict.Obstacle {
        guard obstacle.cause == .noRoute, !links.hasCarrierSomewhere else { return obstacle }
        let candidates = try links.links().filter { !$0.isLoopback }
        let up = candidates.filter(\.isUp)
        if candidates.isEmpty { return Verdict.Obstacle(.noInterface) }
        let only = candidates.count == 1 ? candidates.first?.index : nil
        if up.isEmpty { return Verdict.Obstacle(.linkDown, link: only) }
        if !up.contains(where: \.hasCarrier) { return Verdict.Obstacle(.noCarrier, link: only) }
        return obstacle
    }
}
