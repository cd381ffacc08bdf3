import LinuxPrimitives
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
        let link: Link?
        let state: LinkState?

        init(_ link: Link?, at index: UInt32) {
            (self.index, self.link, state) = (index, link, link.map { LinkState($0) })
        }
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
        let links = known.isEmpty ? links : links.filter { place(of: $0) == nil }
        let answers = try kernel.routes(queries, after: links)
        for place in links.indices where place < answers.links.count { note(answers.links[place], at: links[place]) }
        return answers.routes
    }

    mutating func link(index: UInt32) throws(NetlinkError) -> Link? { known[try asked(index)].link }

    mutating func state(index: UInt32) throws(NetlinkError) -> LinkState? { known[try asked(index)].state }

    /// The place of what was answered, which is asked for where it was not.
    private mutating func asked(_ index: UInt32) throws(NetlinkError) -> Int {
        if let place = place(of: index) { return place }
        return note(try kernel.link(index: index), at: index)
    }

    private func place(of index: UInt32) -> Int? {
        for place in known.indices where known[place].index == index { return place }
        return nil
    }

    /// In place of an older answer: a link asked for by name is asked for each time.
    @discardableResult private mutating func note(_ link: Link?, at index: UInt32) -> Int {
        let answer = Answer(link, at: index)
        if let place = place(of: index) {
            known[place] = answer
            return place
        }
        known.append(answer)
        return known.count - 1
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
        known.contains { $0.state?.carriesPackets ?? false }
    }

    /// Every link of the namespace, asked for only when one of them must explain something.
    mutating func links() throws(NetlinkError) -> [Link] {
        if let all { return all }
        let links = try kernel.links()
        all = links
        known = links.map { Answer($0, at: $0.index) }
        return links
    }
}
