package import LinuxSupport
package import Netlink

/// The kernel's answers in one evaluation.
///
/// Pure code reads the answers as if all were known. A missing answer is thrown as ``MissingAnswers``. The caller then
/// queries the kernel and runs the code again.
package struct Answers {
    /// Queries and their answers, in the same order.
    struct Round: Equatable {
        let queries: [KernelQuery]
        let answers: [KernelResponse]
    }

    private var known: [KernelQuery: (answer: KernelResponse, isUsed: Bool)] = [:]
    /// The queries whose answers were read, in the order of the first read.
    private(set) var used: [KernelQuery] = []
    /// The maximum number of queries that are remembered as used.
    static let usedLimit = 64
    /// A Boolean value that indicates whether one of the queried links can carry packets, not counting the loopback
    /// link.
    private(set) var hasCarrierSomewhere = false

    package init() {}

    mutating func add(_ round: Round) {
        known.reserveCapacity(known.count + round.queries.count)
        for (query, answer) in zip(round.queries, round.answers) {
            known[query] = (answer, false)
            guard case .link(let link?) = answer else { continue }
            // A port carries only packets of its controller, except that a VRF's port also carries its own. That case
            // is handled where it matters.
            if !link.isLoopback, link.obstacle == nil, link.controllerIndex == nil, !link.discardsPackets {
                hasCarrierSomewhere = true
            }
            // A link that was queried by name is also known by its index.
            if case .linkNamed = query { known[.link(link.index)] = (answer, false) }
        }
    }

    /// Returns the known answers to queries; nil if one is missing.
    func round(_ queries: [KernelQuery]) -> Round? {
        let answers = queries.compactMap { known[$0]?.answer }
        return answers.count == queries.count ? Round(queries: queries, answers: answers) : nil
    }

    /// Returns the answer to a query, whose content depends on the type of query.
    package mutating func answer(to query: KernelQuery) throws(MissingAnswers) -> KernelResponse {
        guard let place = known.index(forKey: query) else { throw MissingAnswers(queries: [query]) }
        if !known.values[place].isUsed {
            known.values[place].isUsed = true
            if used.count < Self.usedLimit { used.append(query) }
        }
        return known.values[place].answer
    }
}

/// Frequent queries.
extension Answers {
    /// Returns the link with an index; nil if it does not exist.
    package mutating func link(_ index: UInt32) throws(MissingAnswers) -> Link? {
        try answer(to: .link(index)).link
    }

    /// Returns the answer to the query for a single link, which precedes the query for all links; nil if it was not
    /// sent.
    func earlierLink(_ index: UInt32) -> Link? { known[.link(index)]?.answer.link }

    /// Returns the link with the index or name in a zone; nil if it does not exist.
    package mutating func link(zone: String) throws(MissingAnswers) -> Link? {
        try answer(to: UInt32(zone).map { .link($0) } ?? .linkNamed(zone)).link
    }

    /// Returns all links of the namespace. A dump, used only if the cause of an obstacle is searched.
    package mutating func links() throws(MissingAnswers) -> [Link] {
        try answer(to: .links).links
    }

    /// Returns the route that a packet would take.
    package mutating func route(_ query: RouteQuery) throws(MissingAnswers) -> Result<Route, SystemError> {
        try answer(to: .route(query)).route
    }

    /// Returns the routing table entry that a packet would use; nil if no entry matches.
    package mutating func entry(_ query: RouteQuery) throws(MissingAnswers) -> Route? {
        var query = query
        query.wantsEntry = true
        query.transport = nil
        let answer = try route(query)
        return try? answer.get()
    }

    /// Returns all addresses of the namespace.
    package mutating func addresses() throws(MissingAnswers) -> [InterfaceAddress] {
        try answer(to: .addresses).addresses
    }

    /// Returns the neighbour with this address on a link; nil if the kernel has no entry.
    package mutating func neighbour(
        _ address: WireAddress,
        on link: UInt32
    ) throws(MissingAnswers) -> Neighbour? {
        try answer(to: .neighbour(address, link: link)).neighbour
    }
}

/// The queries that must be answered before an evaluation can continue.
package struct MissingAnswers: Error {
    let queries: [KernelQuery]

    /// Runs `body` for each element, and collects the answers that are missing.
    ///
    /// - Throws: The missing answers of all elements, which are then queried in one round.
    package static func forEach<Element>(
        _ elements: some Sequence<Element>,
        _ body: (Element) throws(MissingAnswers) -> Void
    ) throws(MissingAnswers) {
        var missing: [KernelQuery] = []
        for element in elements {
            do throws(MissingAnswers) {
                try body(element)
            } catch {
                missing += error.queries
            }
        }
        if !missing.isEmpty { throw MissingAnswers(queries: missing) }
    }
}
