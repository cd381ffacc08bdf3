import Dispatch
import LinuxSupport
package import Netlink

/// The connection to one namespace, and the evaluations over it. Used by one thread at a time, so that evaluations have
/// an order and their results never overtake each other.
struct KernelSession {
    private let kernel: any Kernel
    private var connection: (any KernelConnection)?
    private(set) var isListening = false
    private var cache = EvaluationCache()
    /// The last evaluation and the answers that it used. Equal answers give equal paths, so it is not repeated for
    /// equal answers.
    private var last: (subjects: [EvaluationSubject], round: Answers.Round, evaluations: [Evaluation])?
    /// The far ends of tunnels through which targets were reached since listening began.
    private(set) var tunnelEnds: Set<WireAddress> = []
    /// The reason why there is no connection, or why the last one was closed.
    private(set) var failure: NetlinkError?
    /// The number of route lookups since the last ``takeLookups()``.
    private var lookups: UInt64 = 0

    init(kernel: any Kernel) {
        self.kernel = kernel
    }

    /// Returns the paths to the subjects, in their order. All subjects are queried together: in one round if nothing
    /// has changed since the last evaluation, otherwise in two or three.
    ///
    /// A link may go down between the answer about the link and the answers about its routes. The missing routes are
    /// then not the cause. If routes are missing, the links are therefore queried again, and if one has changed, a
    /// second evaluation determines the cause. If that evaluation finds a path, the loss is still reported.
    mutating func evaluate(_ subjects: [EvaluationSubject]) -> [Evaluation] {
        do throws(NetlinkError) {
            let (connection, first) = try query()
            if let last, last.subjects == subjects, last.round == first { return last.evaluations }
            let (evaluations, answers) = try evaluate(subjects, first, over: connection)
            guard answers.hasCarrierSomewhere, evaluations.contains(where: { $0.path.reason == .noRoute }) else {
                return evaluations
            }
            let links = try query(first.queries.filter(\.isLink), over: connection)
            if links == answers.round(links.queries) { return evaluations }
            return zip(evaluations, try evaluate(subjects, links, over: connection).evaluations).map { first, second in
                first.path.reason == .noRoute && second.path.reason != nil ? second : first
            }
        } catch {
            let path = NetworkPath(reason: close(after: error))
            return subjects.map { _ in Evaluation(path: path) }
        }
    }

    private mutating func evaluate(
        _ subjects: [EvaluationSubject],
        _ first: Answers.Round,
        over connection: any KernelConnection
    ) throws(NetlinkError) -> (evaluations: [Evaluation], answers: Answers) {
        var evaluations = [Evaluation?](repeating: nil, count: subjects.count)
        let answers = try answering(first, over: connection) { evaluator throws(MissingAnswers) in
            try MissingAnswers.forEach(subjects.indices) { index throws(MissingAnswers) in
                if evaluations[index] == nil { evaluations[index] = try evaluator.evaluate(subjects[index]) }
            }
        }.answers
        let all = evaluations.compactMap(\.self)
        let isEnough = cache.note(answers.used)
        last = (isEnough ? answers.round(cache.expected) : nil).map { (subjects, $0, all) }
        return (all, answers)
    }

    /// Runs a pure function of the kernel's answers. Repeats it after querying the missing answers, until none is
    /// missing.
    mutating func answering<Value>(
        _ body: (inout PathEvaluator) throws(MissingAnswers) -> Value
    ) throws(NetlinkError) -> Value {
        let (connection, first) = try query()
        return try answering(first, over: connection, body).value
    }

    /// Sends the queries that the last evaluation needed.
    private mutating func query() throws(NetlinkError) -> (any KernelConnection, Answers.Round) {
        let connection = try connect()
        // Changes of interfaces are only noticed while listening.
        if !isListening { forgetInterfaces() }
        return (connection, try query(cache.expected, over: connection))
    }

    private mutating func query(
        _ queries: [KernelQuery],
        over connection: any KernelConnection
    ) throws(NetlinkError) -> Answers.Round {
        lookups += UInt64(queries.count(where: \.isRoute))
        return Answers.Round(queries: queries, answers: try connection.query(queries))
    }

    private mutating func answering<Value>(
        _ first: Answers.Round,
        over connection: any KernelConnection,
        _ body: (inout PathEvaluator) throws(MissingAnswers) -> Value
    ) throws(NetlinkError) -> (value: Value, answers: Answers) {
        var evaluator = PathEvaluator(Answers(), cache)
        var round = first
        while true {
            evaluator.answers.add(round)
            do throws(MissingAnswers) {
                let value = try body(&evaluator)
                cache = evaluator.cache
                tunnelEnds.formUnion(evaluator.tunnelEnds)
                return (value, evaluator.answers)
            } catch {
                // Several subjects may miss the same answer.
                var seen: Set<KernelQuery> = []
                round = try query(error.queries.filter { seen.insert($0).inserted }, over: connection)
            }
        }
    }

    /// A Boolean value that indicates whether the last answers may contain changes that have not been reported yet.
    var hasEvents: Bool { isListening && (connection?.hasEvents ?? false) }

    /// A Boolean value that indicates whether the listener has received all events, and will receive the next one.
    var isQuiet: Bool {
        // The order matters: events that were pending may now be in delivery.
        guard isListening, let connection, connection.isCurrent else { return false }
        return !connection.hasEvents && !connection.isDelivering
    }

    /// Returns the number of route lookups since the last call.
    mutating func takeLookups() -> UInt64 {
        defer { lookups = 0 }
        return lookups
    }

    /// Discards the interfaces, because a link may have changed.
    mutating func forgetInterfaces() {
        cache.forgetInterfaces()
        last = nil
    }
}

// MARK: - The connection

extension KernelSession {
    /// Connects if there is no connection. Closes a connection whose namespace was deleted.
    @discardableResult
    mutating func connect() throws(NetlinkError) -> any KernelConnection {
        closeIfNamespaceChanged()
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

    /// Starts to listen, if it does not yet.
    ///
    /// - Returns: The multicast groups that the kernel does not support; nil if it was already listening.
    mutating func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String]? {
        let connection = try connect()
        guard !isListening else { return nil }
        do {
            let missing = try connection.listen(on: queue, received)
            isListening = true
            forgetInterfaces()
            tunnelEnds = []
            return missing
        } catch {
            failure = error
            throw error
        }
    }

    /// Sets the filter of the listening connection. A new connection needs the filter again.
    func setFilter(_ filter: RouteFilter) throws(NetlinkError) {
        if isListening { try connection?.setFilter(filter) }
    }

    mutating func stopListening() {
        guard isListening else { return }
        connection?.stopListening()
        isListening = false
    }

    /// Closes a connection to a namespace that was replaced, because its sockets keep the old namespace alive.
    mutating func closeIfNamespaceChanged() {
        if let connection, !connection.isCurrent { disconnect() }
    }

    /// Closes the connection. The next query opens another one.
    mutating func disconnect() {
        stopListening()
        connection = nil
        (cache, last) = (EvaluationCache(), nil)
    }

    /// Closes a connection that cannot be used. Returns the reason that applies to every target.
    mutating func close(after error: NetlinkError) -> NetworkPath.UnsatisfiedReason {
        failure = error
        disconnect()
        return NetworkPath.UnsatisfiedReason(error)
    }
}

extension NetworkPath.UnsatisfiedReason {
    /// Creates the reason why the status is unknown after a failed query.
    package init(_ error: NetlinkError) {
        self = error.stage == .namespace ? .namespaceGone : .netlinkUnavailable
    }
}

extension KernelQuery {
    fileprivate var isRoute: Bool {
        if case .route = self { true } else { false }
    }
}

extension PathMonitor {
    /// Checks whether the kernel answers. Looks up the route to 127.0.0.1 on the calling thread, which needs no
    /// network. The result does not count as a change.
    ///
    /// - Returns: True if the kernel answered, with any result. A deleted namespace, which its targets report, also
    ///   counts as an answer.
    package func answers() -> Bool {
        do throws(NetlinkError) {
            _ = try answering { evaluator throws(MissingAnswers) in try evaluator.evaluate(Self.query) }
            return true
        } catch {
            return error.stage == .namespace
        }
    }

    private static let query = EvaluationSubject(.any([IPAddress("127.0.0.1")].compactMap(\.self)))
}
