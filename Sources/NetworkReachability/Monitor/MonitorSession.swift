import Dispatch
import Netlink

/// The kernel side of a monitor: the connection, and every evaluation made over it. It is used by one thread at a time,
/// so that evaluations have an order and their results never overtake each other.
struct MonitorSession {
    private let kernel: any Kernel
    private var connection: (any KernelConnection)?
    private var interfaces = InterfaceTable()
    private(set) var isListening = false
    /// Why there is no connection, or why the last one was given up.
    private(set) var failure: NetlinkError?

    init(kernel: any Kernel) {
        self.kernel = kernel
    }

    /// Connects where there is no connection, and lets go of one whose namespace was deleted.
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

    /// Ends a connection to a namespace that is no longer the one meant; it would keep that alive.
    mutating func letGoOfOtherNamespace() {
        if let connection, !connection.isCurrent { disconnect() }
    }

    /// Begins to hear of changes, if it does not yet.
    mutating func listen(
        on queue: DispatchQueue,
        _ ring: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) {
        let connection = try connect()
        guard !isListening else { return }
        do {
            try connection.listen(on: queue, ring)
        } catch {
            failure = error
            throw error
        }
        isListening = true
        interfaces = InterfaceTable()
    }

    mutating func stopListening() {
        guard isListening else { return }
        connection?.stopListening()
        isListening = false
    }

    /// What is known of interfaces is not true any more.
    mutating func forgetInterfaces() {
        let guess = interfaces.lastUsed
        interfaces = InterfaceTable()
        interfaces.lastUsed = guess
    }

    /// The connection, while it listens.
    var listeningConnection: (any KernelConnection)? { isListening ? connection : nil }

    /// The paths of `records`, in their order.
    ///
    /// - Parameter isQuick: What none of the flags and ways depends on may be left out.
    mutating func evaluate(_ records: [TargetRecord], isQuick: Bool = false) -> [Evaluation] {
        do {
            let connection = try connect()
            // Only while listening is it known when an interface changes.
            let known = isListening ? interfaces : InterfaceTable()
            var evaluator = PathEvaluator(kernel: connection, interfaces: known)
            var evaluations: [Evaluation] = []
            for record in records {
                var evaluation = try Self.evaluate(record, with: &evaluator, isQuick: isQuick)
                evaluation.path = record.note(evaluation)
                evaluations.append(evaluation)
            }
            interfaces = evaluator.learned
            return evaluations
        } catch {
            failure = error
            disconnect()
            let reason: NetworkPath.UnsatisfiedReason = error.stage == .namespace ? .namespaceGone : .netlinkUnavailable
            return records.map { Evaluation(path: $0.note(Evaluation(path: NetworkPath(reason: reason)))) }
        }
    }

    private static func evaluate(
        _ record: TargetRecord,
        with evaluator: inout PathEvaluator,
        isQuick: Bool
    ) throws(NetlinkError) -> Evaluation {
        let mark = record.target.mark
        switch record.target.destination {
        case .atLarge(let addresses):
            return try evaluator.path(toMajorityOf: addresses, mark: mark, isQuick: isQuick)
        case .address(let address):
            return try evaluator.path(toAnyOf: [address], mark: mark)
        case .name:
            switch record.name?.answer ?? .failed {
            case .pending: return Evaluation(path: NetworkPath(reason: .resolving))
            case .failed: return Evaluation(path: NetworkPath(flags: [], reason: .nameNotResolved))
            case .addresses(let addresses): return try evaluator.path(toAnyOf: addresses, mark: mark)
            }
        }
    }

    private mutating func disconnect() {
        stopListening()
        connection = nil
    }
}
