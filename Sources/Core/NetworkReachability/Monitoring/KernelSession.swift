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
    /// The far ends of the tunnels that targets were reached through since it listens.
    private(set) var tunnelEnds: Set<WireAddress> = []
    /// Why there is no connection, or why the last one was given up.
    private(set) var failure: NetlinkError?
    /// Routes looked up since this was read last.
    private var lookups: UInt64 = 0

    init(kernel: any Kernel) {
        self.kernel = kernel
    }

    /// The paths to the subjects, in their order. All of them are asked about together: in one round where everything is as at
    /// the last evaluation, else in two or three.
    mutating func evaluate(_ subjects: [EvaluationSubject]) -> [Evaluation] {
        do throws(NetlinkError) {
            var evaluations = [Evaluation?](repeating: nil, count: subjects.count)
            try answering(isRemembered: true) { judge throws(MissingAnswers) in
                try MissingAnswers.forEach(subjects.indices) { index throws(MissingAnswers) in
                    if evaluations[index] == nil { evaluations[index] = try judge.evaluate(subjects[index]) }
                }
            }
            return evaluations.compactMap(\.self)
        } catch {
            let path = NetworkPath(reason: giveUp(error))
            return subjects.map { _ in Evaluation(path: path) }
        }
    }

    /// Runs a pure function of answers, and asks what it misses, until nothing is missing.
    ///
    /// - Parameter isRemembered: Whether the next evaluation is likely to ask the same.
    mutating func answering<Value>(
        isRemembered: Bool = false,
        _ body: (inout Judge) throws(MissingAnswers) -> Value
    ) throws(NetlinkError) -> Value {
        let connection = try connect()
        // Only while listening is it known when an interface changes.
        if !isListening { memory.forgetInterfaces() }
        var judge = Judge(Answers(), memory)
        var questions = memory.expected
        while true {
            lookups += UInt64(questions.count(where: \.isRoute))
            judge.answers.add(try connection.ask(questions), to: questions)
            do throws(MissingAnswers) {
                let value = try body(&judge)
                memory = judge.memory
                if isRemembered { memory.note(judge.answers.used) }
                tunnelEnds.formUnion(judge.tunnelEnds)
                return value
            } catch {
                // Many miss the same.
                var seen: Set<KernelQuestion> = []
                questions = error.questions.filter { seen.insert($0).inserted }
            }
        }
    }

    /// Whether the last answers may come from changes that nobody has been told of yet.
    var hasEvents: Bool { isListening && (connection?.hasEvents ?? false) }

    /// Whether the listener has received all events, and will hear of the next change.
    var isQuiet: Bool {
        // In this order: events that were pending before may be on their way now.
        guard isListening, let connection, connection.isCurrent else { return false }
        return !connection.hasEvents && !connection.isDelivering
    }

    /// How many routes were looked up since this was asked last.
    mutating func takeLookups() -> UInt64 {
        defer { lookups = 0 }
        return lookups
    }

    /// What is known of interfaces is not true any more.
    mutating func forgetInterfaces() {
        memory.forgetInterfaces()
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
            memory.forgetInterfaces()
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
        memory = EvaluationMemory()
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
