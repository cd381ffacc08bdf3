import Dispatch
import LinuxSupport
import Netlink

/// The connection to one namespace, and the evaluations made over it. It is used by one thread at a time, so that evaluations
/// have an order and their results never overtake each other.
struct KernelSession {
    private let kernel: any Kernel
    private var connection: (any KernelConnection)?
    private(set) var isListening = false
    private var memory = EvaluationMemory()
    /// The last evaluation, with the answers that it read. Equal answers lead to equal paths, so it is not repeated for equal answers.
    private var last: (subjects: [EvaluationSubject], round: Answers.Round, evaluations: [Evaluation])?
    /// The far ends of the tunnels that targets were reached through since it listens.
    private(set) var tunnelEnds: Set<WireAddress> = []
    /// The reason that there is no connection, or that the last one was given up.
    private(set) var failure: NetlinkError?
    /// The number of routes looked up since ``takeLookups()``.
    private var lookups: UInt64 = 0

    init(kernel: any Kernel) {
        self.kernel = kernel
    }

    /// The paths to the subjects, in their order. All of them are asked about together: in one round where everything is as at
    /// the last evaluation, else in two or three.
    mutating func evaluate(_ subjects: [EvaluationSubject]) -> [Evaluation] {
        do throws(NetlinkError) {
            let (connection, first) = try ask()
            if let last, last.subjects == subjects, last.round == first { return last.evaluations }
            var evaluations = [Evaluation?](repeating: nil, count: subjects.count)
            let answers = try answering(first, over: connection) { judge throws(MissingAnswers) in
                try MissingAnswers.forEach(subjects.indices) { index throws(MissingAnswers) in
                    if evaluations[index] == nil { evaluations[index] = try judge.evaluate(subjects[index]) }
                }
            }.answers
            let all = evaluations.compactMap(\.self)
            let isEnough = memory.note(answers.used)
            last = (isEnough ? answers.round(memory.expected) : nil).map { (subjects, $0, all) }
            return all
        } catch {
            let path = NetworkPath(reason: giveUp(error))
            return subjects.map { _ in Evaluation(path: path) }
        }
    }

    /// Runs a pure function of answers, and asks what it misses, until nothing is missing.
    mutating func answering<Value>(
        _ body: (inout Judge) throws(MissingAnswers) -> Value
    ) throws(NetlinkError) -> Value {
        let (connection, first) = try ask()
        return try answering(first, over: connection, body).value
    }

    /// Asks what the last evaluation needed to know.
    private mutating func ask() throws(NetlinkError) -> (any KernelConnection, Answers.Round) {
        let connection = try connect()
        // Only while listening is it known when an interface changes.
        if !isListening { forgetInterfaces() }
        return (connection, try ask(memory.expected, over: connection))
    }

    private mutating func ask(
        _ questions: [KernelQuestion],
        over connection: any KernelConnection
    ) throws(NetlinkError) -> Answers.Round {
        lookups += UInt64(questions.count(where: \.isRoute))
        return Answers.Round(questions: questions, answers: try connection.ask(questions))
    }

    private mutating func answering<Value>(
        _ first: Answers.Round,
        over connection: any KernelConnection,
        _ body: (inout Judge) throws(MissingAnswers) -> Value
    ) throws(NetlinkError) -> (value: Value, answers: Answers) {
        var judge = Judge(Answers(), memory)
        var round = first
        while true {
            judge.answers.add(round)
            do throws(MissingAnswers) {
                let value = try body(&judge)
                memory = judge.memory
                tunnelEnds.formUnion(judge.tunnelEnds)
                return (value, judge.answers)
            } catch {
                // Many miss the same.
                var seen: Set<KernelQuestion> = []
                round = try ask(error.questions.filter { seen.insert($0).inserted }, over: connection)
            }
        }
    }

    /// Whether the last answers may contain changes that have not been reported yet.
    var hasEvents: Bool { isListening && (connection?.hasEvents ?? false) }

    /// Whether the listener has received all events, and will receive the next one.
    var isQuiet: Bool {
        // In this order: events that were pending before may be on their way now.
        guard isListening, let connection, connection.isCurrent else { return false }
        return !connection.hasEvents && !connection.isDelivering
    }

    /// The number of routes looked up since the last call.
    mutating func takeLookups() -> UInt64 {
        defer { lookups = 0 }
        return lookups
    }

    /// Forgets the interfaces, because a link may have changed.
    mutating func forgetInterfaces() {
        memory.forgetInterfaces()
        last = nil
    }
}

// MARK: - The connection

extension KernelSession {
    /// Connects where there is no connection, and lets go of one whose namespace was deleted.
    @discardableResult
    mutating func connect() throws(NetlinkError) -> any KernelConnection {
        letGoOfOtherNamespace()
        if let connection { return connection }
        do {
            let connection = try kernel.connect()
            self.connection = connection
            failure = nil
            return connection
        } catch {
            failure = error
            throw error
        }
    }

    /// Begins to listen, if it does not yet.
    ///
    /// - Returns: The groups that the kernel does not have; nil where it listened already.
    mutating func listen(
        on queue: DispatchQueue,
        _ heard: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String]? {
        let connection = try connect()
        guard !isListening else { return nil }
        do {
            let missing = try connection.listen(on: queue, heard)
            isListening = true
            forgetInterfaces()
            tunnelEnds = []
            return missing
        } catch {
            failure = error
            throw error
        }
    }

    /// Applies to the connection that listens; another has to be given it again.
    func setFilter(_ filter: RouteFilter) throws(NetlinkError) {
        if isListening { try connection?.setFilter(filter) }
    }

    mutating func stopListening() {
        guard isListening else { return }
        connection?.stopListening()
        isListening = false
    }

    /// Ends a connection to a namespace that is no longer the one meant; it would keep that alive.
    mutating func letGoOfOtherNamespace() {
        if let connection, !connection.isCurrent { disconnect() }
    }

    /// Lets go of the connection; the next question opens another.
    mutating func disconnect() {
        stopListening()
        connection = nil
        (memory, last) = (EvaluationMemory(), nil)
    }

    /// Lets go of a connection that cannot be used, and says what that means for every target.
    mutating func giveUp(_ error: NetlinkError) -> NetworkPath.UnsatisfiedReason {
        failure = error
        disconnect()
        return error.stage == .namespace ? .namespaceGone : .netlinkUnavailable
    }
}

extension KernelQuestion {
    fileprivate var isRoute: Bool {
        if case .route = self { true } else { false }
    }
}

extension PathMonitor {
    /// Asks the kernel a question on the calling thread that needs no network: for the route to 127.0.0.1. Nothing counts as a change.
    ///
    /// - Returns: Whether it answered, whatever that was. In a namespace that is gone there is nobody to ask, which its targets tell: that
    ///   is an answer, too.
    package func answers() -> Bool {
        do throws(NetlinkError) {
            _ = try answering { judge throws(MissingAnswers) in try judge.evaluate(Self.question) }
            return true
        } catch {
            return error.stage == .namespace
        }
    }

    private static let question = EvaluationSubject(.any([IPAddress("127.0.0.1")].compactMap(\.self)))
}
