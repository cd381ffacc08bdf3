import Netlink

/// The links asked for during one evaluation, each asked once, and how many routes were looked up.
struct LinkTable {
    private let kernel: any KernelConnection
    /// A handful, the links that packets leave through, where an array is quicker than a dictionary.
    private var known: [Answer] = []
    private var all: [Link]?
    private(set) var lookups = 0
    /// The far ends of tunnels that were asked about too.
    var underlay: Set<WireAddress> = []

    private struct Answer {
        let index: UInt32
        /// Nil where there is none of that index.
        var link: Link?
    }

    init(_ kernel: any KernelConnection) {
        self.kernel = kernel
    }

    /// Forgets every answer.
    mutating func removeAll() {
        known = []
        all = nil
        lookups = 0
        underlay = []
    }

    /// Looks ways up, once there has been a barrier.
    mutating func routes(_ queries: [RouteQuery]) throws(NetlinkError) -> [Result<Route, SystemError>] {
        lookups += queries.count
        return try kernel.routes(queries)
    }

    /// Looks ways up, after asking for the links that are likely to matter and have not been asked for: a barrier, and a
    /// question less later.
    mutating func routes(
        _ queries: [RouteQuery],
        expecting links: [UInt32]
    ) throws(NetlinkError) -> [Result<Route, SystemError>] {
        lookups += queries.count
        let links = known.isEmpty && all == nil ? links : links.filter { answer($0) == nil }
        let answers = try kernel.routes(queries, after: links)
        for place in links.indices where place < answers.links.count { note(answers.links[place], at: links[place]) }
        return answers.routes
    }

    mutating func link(index: UInt32) throws(NetlinkError) -> Link? {
        if let answer = answer(index) { return answer }
        let link = try kernel.link(index: index)
        note(link, at: index)
        return link
    }

    /// In place of an older answer: a link asked for by name is asked for each time.
    private mutating func note(_ link: Link?, at index: UInt32) {
        if let place = known.firstIndex(where: { $0.index == index }) {
            known[place].link = link
        } else {
            known.append(Answer(index: index, link: link))
        }
    }

    /// What was answered already; nil when it was not asked for.
    private func answer(_ index: UInt32) -> Link?? {
        for place in known.indices where known[place].index == index { return .some(known[place].link) }
        return all?.first { $0.index == index }.map { .some($0) }
    }

    /// The link a zone names: an index, or a name.
    mutating func link(zone: String) throws(NetlinkError) -> Link? {
        if let index = UInt32(zone) { return try link(index: index) }
        let link = try kernel.link(named: zone)
        if let link { note(link, at: link.index) }
        return link
    }

    /// Whether one of the links asked for so far carries packets, the loopback link aside.
    var hasCarrierSomewhere: Bool {
        known.contains { $0.link?.carriesPackets ?? false } || all?.contains(where: \.carriesPackets) ?? false
    }

    /// Every link of the namespace, asked for only when one of them must explain something.
    mutating func links() throws(NetlinkError) -> [Link] {
        if let all { return all }
        let links = try kernel.links()
        all = links
        known = []
        return links
    }
}

extension Link {
    /// Why no packet leaves through this link; nil when one does. Judged by what is true when asked: IFF_UP and
    /// IFF_LOWER_UP. The operational state lags behind by up to a second, except for `dormant`.
    var obstacle: Verdict.Cause? {
        if !isUp { return .linkDown }
        if !hasCarrier { return .noCarrier }
        return isDormant ? .dormant : nil
    }

    fileprivate var carriesPackets: Bool { !isLoopback && obstacle == nil }
}
