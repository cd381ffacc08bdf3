package import LinuxSupport
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
            // A port carries packets of its controller alone, a VRF's also its own; that is found out where it matters.
            if !link.isLoopback, link.obstacle == nil, link.controllerIndex == nil, !link.discardsPackets {
                hasCarrierSomewhere = true
            }
            // A link asked for by name is known by its index too.
            if case .linkNamed = question { known[.link(link.index)] = answer }
        }
    }

    /// The answer to any question; ``KernelAnswer`` has what is in it.
    package mutating func answer(to question: KernelQuestion) throws(MissingAnswers) -> KernelAnswer {
        if used.count < Self.usedLimit, isUsed.insert(question).inserted { used.append(question) }
        guard let answer = known[question] else { throw MissingAnswers(questions: [question]) }
        return answer
    }
}

/// What is asked often, by its name.
extension Answers {
    /// The link of this index; nil when there is none.
    package mutating func link(_ index: UInt32) throws(MissingAnswers) -> Link? {
        try answer(to: .link(index)).link
    }

    /// The link that a zone names, an index or a name; nil when there is none.
    package mutating func link(zone: String) throws(MissingAnswers) -> Link? {
        try answer(to: UInt32(zone).map { .link($0) } ?? .linkNamed(zone)).link
    }

    /// Every link of the namespace: only where one of them must explain something.
    package mutating func links() throws(MissingAnswers) -> [Link] {
        try answer(to: .links).links
    }

    /// How a packet would leave.
    package mutating func route(_ query: RouteQuery) throws(MissingAnswers) -> Result<Route, SystemError> {
        try answer(to: .route(query)).route
    }

    /// The entry of a table by which a packet would go; nil where there is none.
    package mutating func entry(_ query: RouteQuery) throws(MissingAnswers) -> Route? {
        var query = query
        query.wantsEntry = true
        query.transport = nil
        let answer = try route(query)
        return try? answer.get()
    }

    /// Every address of the namespace.
    package mutating func addresses() throws(MissingAnswers) -> [InterfaceAddress] {
        try answer(to: .addresses).addresses
    }

    /// The neighbour with this address on a link; nil when the link knows none.
    package mutating func neighbour(
        _ address: WireAddress,
        on link: UInt32
    ) throws(MissingAnswers) -> Neighbour? {
        try answer(to: .neighbour(address, link: link)).neighbour
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
