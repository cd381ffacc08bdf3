package import LinuxPrimitives
package import Netlink

/// What the kernel has answered so far in one evaluation.
///
/// Pure code reads it as if everything were known. What is not known yet is thrown as ``MissingAnswers``; whoever runs that code
/// asks for it and runs the code again.
package struct Answers {
    private var known: [KernelQuestion: KernelAnswer] = [:]
    /// The questions whose answers were read, in the order in which they were read first.
    private(set) var used: [KernelQuestion] = []
    private var isUsed: Set<KernelQuestion> = []
    /// More than these are not remembered as used.
    private static let usedLimit = 64
    /// Whether one of the links asked for so far carries packets, the loopback link aside.
    private(set) var hasCarrierSomewhere = false

    package init() {}

    /// - Parameter known: what is known before anything is asked.
    package init(_ known: [KernelQuestion: KernelAnswer]) {
        self.known = known
    }

    /// Takes what was answered, in the order of the questions.
    mutating func add(_ answers: [KernelAnswer], to questions: [KernelQuestion]) {
        known.reserveCapacity(known.count + questions.count)
        for (question, answer) in zip(questions, answers) {
            known[question] = answer
            guard case .link(let link?) = answer else { continue }
            if !link.isLoopback, link.obstacle == nil { hasCarrierSomewhere = true }
            // A link asked for by name is known by its index too.
            if case .linkNamed = question { known[.link(link.index)] = answer }
        }
    }

    private mutating func answer(to question: KernelQuestion) throws(MissingAnswers) -> KernelAnswer {
        if used.count < Self.usedLimit, isUsed.insert(question).inserted { used.append(question) }
        guard let answer = known[question] else { throw MissingAnswers(questions: [question]) }
        return answer
    }
}

extension Answers {
    /// The link of this index; nil when there is none.
    package mutating func link(_ index: UInt32) throws(MissingAnswers) -> Link? {
        if case .link(let link) = try answer(to: .link(index)) { link } else { nil }
    }

    /// The link that a zone names: an index, or a name.
    package mutating func link(zone: String) throws(MissingAnswers) -> Link? {
        if let index = UInt32(zone) { try link(index) } else { try link(named: zone) }
    }

    /// The link of this name; nil when there is none.
    package mutating func link(named name: String) throws(MissingAnswers) -> Link? {
        if case .link(let link) = try answer(to: .linkNamed(name)) { link } else { nil }
    }

    /// Every link of the namespace: only where one of them must explain something.
    package mutating func links() throws(MissingAnswers) -> [Link] {
        if case .links(let links) = try answer(to: .links) { links } else { [] }
    }

    /// Which way a packet would go.
    package mutating func route(_ query: RouteQuery) throws(MissingAnswers) -> Result<Route, SystemError> {
        if case .route(let route) = try answer(to: .route(query)) { route } else { .failure(.badMessage) }
    }

    /// The entry of a table by which a packet would go; nil where there is none.
    package mutating func entry(_ query: RouteQuery) throws(MissingAnswers) -> Route? {
        var query = query
        query.wantsEntry = true
        let answer = try route(query)
        return try? answer.get()
    }

    /// The next hop object of this number; nil when there is none.
    package mutating func nextHopObject(_ number: UInt32) throws(MissingAnswers) -> NextHopObject? {
        if case .nextHopObject(let object) = try answer(to: .nextHopObject(number)) { object } else { nil }
    }

    /// What the device behind a link tells of itself.
    package mutating func hardware(_ link: Link) throws(MissingAnswers) -> LinkHardware {
        if case .hardware(let hardware) = try answer(to: .hardware(link)) { hardware } else { LinkHardware() }
    }

    /// Every address of the namespace.
    package mutating func addresses() throws(MissingAnswers) -> [InterfaceAddress] {
        if case .addresses(let addresses) = try answer(to: .addresses) { addresses } else { [] }
    }

    /// The policy rules of a family in the order they are tried.
    package mutating func rules(_ family: AddressFamily) throws(MissingAnswers) -> [RoutingRule] {
        if case .rules(let rules) = try answer(to: .rules(family)) { rules } else { [] }
    }

    /// Every route of every table that covers an address.
    package mutating func routes(covering address: WireAddress) throws(MissingAnswers) -> [TableRoute] {
        if case .tableRoutes(let routes) = try answer(to: .routesCovering(address)) { routes } else { [] }
    }

    /// Whether IPv6 is switched off on a link; nil where that is not told.
    package mutating func isIPv6Disabled(on link: UInt32) throws(MissingAnswers) -> Bool? {
        if case .isIPv6Disabled(let isDisabled) = try answer(to: .isIPv6Disabled(link: link)) {
            isDisabled
        } else {
            nil
        }
    }

    /// The neighbour with this address on a link; nil when the link knows none.
    package mutating func neighbour(
        _ address: WireAddress,
        on link: UInt32
    ) throws(MissingAnswers) -> Neighbour? {
        if case .neighbour(let neighbour) = try answer(to: .neighbour(address, link: link)) { neighbour } else { nil }
    }
}

/// Questions that have to be asked before an evaluation can go on.
package struct MissingAnswers: Error {
    let questions: [KernelQuestion]

    /// Does the same to each element, as far as answers are there.
    ///
    /// - Throws: what is missing for all of them, so that it is asked for in one round.
    package static func forEach<Element>(
        _ elements: some Sequence<Element>,
        _ body: (Element) throws(MissingAnswers) -> Void
    ) throws(MissingAnswers) {
        var missing: [KernelQuestion] = []
        for element in elements {
            do throws(MissingAnswers) {
                try body(element)
            } catch {
                missing += error.questions
            }
        }
        if !missing.isEmpty { throw MissingAnswers(questions: missing) }
    }
}
