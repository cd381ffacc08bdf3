package import LinuxSupport
package import Netlink

/// The answers of the kernel in one evaluation.
///
/// Pure code reads it as if everything were known. What is not known yet is thrown as ``MissingAnswers``; whoever runs that code
/// asks for it and runs the code again.
package struct Answers {
    /// Questions and their answers, in the same order.
    struct Round: Equatable {
        let questions: [KernelQuestion]
        let answers: [KernelAnswer]
    }

    private var known: [KernelQuestion: (answer: KernelAnswer, isUsed: Bool)] = [:]
    /// The questions whose answers were read, in the order in which they were read first.
    private(set) var used: [KernelQuestion] = []
    /// The maximum number of questions that are remembered as used.
    static let usedLimit = 64
    /// Whether one of the links asked for so far carries packets, the loopback link aside.
    private(set) var hasCarrierSomewhere = false

    package init() {}

    mutating func add(_ round: Round) {
        known.reserveCapacity(known.count + round.questions.count)
        for (question, answer) in zip(round.questions, round.answers) {
            known[question] = (answer, false)
            guard case .link(let link?) = answer else { continue }
            // A port carries packets of its controller alone, a VRF's also its own; that is found out where it matters.
            if !link.isLoopback, link.obstacle == nil, link.controllerIndex == nil, !link.discardsPackets {
                hasCarrierSomewhere = true
            }
            // A link asked for by name is known by its index too.
            if case .linkNamed = question { known[.link(link.index)] = (answer, false) }
        }
    }

    /// The known answers to questions; nil if one is missing.
    func round(_ questions: [KernelQuestion]) -> Round? {
        let answers = questions.compactMap { known[$0]?.answer }
        return answers.count == questions.count ? Round(questions: questions, answers: answers) : nil
    }

    /// The answer to any question; ``KernelAnswer`` has what is in it.
    package mutating func answer(to question: KernelQuestion) throws(MissingAnswers) -> KernelAnswer {
        guard let place = known.index(forKey: question) else { throw MissingAnswers(questions: [question]) }
        if !known.values[place].isUsed {
            known.values[place].isUsed = true
            if used.count < Self.usedLimit { used.append(question) }
        }
        return known.values[place].answer
    }
}

/// Frequent queries.
extension Answers {
    /// The link with an index; nil if it does not exist.
    package mutating func link(_ index: UInt32) throws(MissingAnswers) -> Link? {
        try answer(to: .link(index)).link
    }

    /// The link with the index or name in a zone; nil if it does not exist.
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

    /// The routing entry that a packet would take; nil if there is none.
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
    /// - Throws: The missing answers of all elements, which are then queried in one round.
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
