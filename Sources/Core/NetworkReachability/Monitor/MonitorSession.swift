import Dispatch
import LinuxPrimitives
import Netlink
import RouteFilter

/// The kernel side of a monitor: the connection, and every evaluation made over it. It is used by one thread at a time,
/// so that evaluations have an order and their results never overtake each other.
struct MonitorSession {
    private let kernel: any Kernel
    /// There while there is a connection, with what was learned over it.
    private var evaluator: PathEvaluator?
    private var connection: (any KernelConnection)? { evaluator?.kernel }
    /// The far ends of the tunnels that targets were reached through since it listens.
    private(set) var underlay: Set<WireAddress> = []
    private(set) var isListening = false
    /// Why there is no connection, or why the last one was given up.
    private(set) var failure: NetlinkError?
    /// Routes looked up and not yet counted elsewhere.
    var lookups = 0

    init(kernel: any Kernel) {
        self.kernel = kernel
    }

    /// Connects where there is no connection, and lets go of one whose namespace was deleted.
    mutating func connect() throws(NetlinkError) -> any KernelConnection {
        letGoOfOtherNamespace()
        if let connection { return connection }
        do {
            let connection = try kernel.connect()
            evaluator = PathEvaluator(kernel: connection)
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

    /// Begins to hear of changes, if it does not yet; says whether it did.
    mutating func listen(
        on queue: DispatchQueue,
        _ ring: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> Bool {
        let connection = try connect()
        guard !isListening else { return false }
        do {
            try connection.listen(on: queue, ring)
        } catch {
            failure = error
            throw error
        }
        isListening = true
        forgetInterfaces()
        underlay = []
        return true
    }

    /// Applies to the connection that listens; another is to be told again.
    func setFilter(_ filter: RouteFilter) throws(NetlinkError) {
        try listeningConnection?.setFilter(filter)
    }

    mutating func stopListening() {
        guard isListening else { return }
        connection?.stopListening()
        isListening = false
    }

    /// What is known of interfaces is not true any more.
    mutating func forgetInterfaces() {
        evaluator?.interfaces = InterfaceTable()
    }

    /// The connection, while it listens.
    var listeningConnection: (any KernelConnection)? { isListening ? connection : nil }

    /// The paths of `records`, in their order.
    mutating func evaluate(_ records: [TargetRecord], _ depth: LookDepth = .whole) -> [Evaluation] {
        do {
            return try asking { evaluator throws(NetlinkError) in
                evaluator.isExpectant = depth != .searching
                var (polls, inquiries, askings) = ([Poll](), [Inquiry](), [Asking]())
                for record in records { askings.append(Self.ask(record, depth, &polls, &inquiries)) }
                let (ofPolls, ofInquiries) = (try evaluator.evaluate(&polls), try evaluator.evaluate(&inquiries))
                var evaluations: [Evaluation] = []
                evaluations.reserveCapacity(records.count)
                for (record, asking) in zip(records, askings) {
                    let evaluation =
                        switch asking {
                        case .poll(let place): ofPolls[place]
                        case .inquiry(let place): ofInquiries[place]
                        case .servers(let place, let unnamed): unnamed.evaluation(byServers: ofPolls[place])
                        case .nothing(let unnamed): Evaluation(path: unnamed.path)
                        }
                    evaluations.append(record.noted(evaluation))
                }
                return evaluations
            }
        } catch {
            let reason = giveUp(error)
            return records.map { $0.noted(Evaluation(path: NetworkPath(reason: reason))) }
        }
    }

    /// How a target is asked about, and which of that kind it is.
    private enum Asking {
        case poll(Int)
        case inquiry(Int)
        /// About the servers of a name, by a poll.
        case servers(Int, Unnamed)
        case nothing(Unnamed)
    }

    private static func ask(
        _ record: TargetRecord,
        _ depth: LookDepth,
        _ polls: inout [Poll],
        _ inquiries: inout [Inquiry]
    ) -> Asking {
        if let inquiry = record.inquiry {
            inquiries.append(inquiry)
            return .inquiry(inquiries.count - 1)
        }
        switch poll(record, depth) {
        case .success(let poll):
            polls.append(poll)
            return .poll(polls.count - 1)
        case .failure(let unnamed):
            guard let servers = record.name?.missingServers else { return .nothing(unnamed) }
            polls.append(Poll(servers: servers))
            return .servers(polls.count - 1, unnamed)
        }
    }

    /// Lets go of a connection that cannot be used, and says what that means for every target.
    mutating func giveUp(_ error: NetlinkError) -> NetworkPath.UnsatisfiedReason {
        failure = error
        disconnect()
        return error.stage == .namespace ? .namespaceGone : .netlinkUnavailable
    }

    /// One look by the evaluator, which learns from it.
    mutating func asking<Answer>(
        _ question: (inout PathEvaluator) throws(NetlinkError) -> Answer
    ) throws(NetlinkError) -> Answer {
        _ = try connect()
        // Only while listening is it known when an interface changes.
        if !isListening { forgetInterfaces() }
        // In place: a second holder would have it copy what it knows whenever it learns.
        guard let answer = try evaluator?.look(question, &lookups, &underlay) else {
            throw NetlinkError("ask without a connection", .noDevice)
        }
        return answer
    }

    /// How many routes were looked up since this was asked last.
    mutating func takeLookups() -> UInt64 {
        defer { lookups = 0 }
        return UInt64(lookups)
    }

    /// What to ask about a target, or why there is nothing to ask about.
    static func poll(_ record: TargetRecord, _ depth: LookDepth) -> Result<Poll, Unnamed> {
        let (mark, interface) = (record.target.mark, record.target.interface)
        switch record.target.destination {
        case .atLarge(let addresses):
            let isQuick = depth == .quick && !record.wantsEverything
            return .success(Poll(majorityOf: addresses, mark: mark, interface: interface, isQuick: isQuick))
        case .address(let address):
            return .success(Poll(anyOf: [address], mark: mark, interface: interface))
        case .name:
            switch record.name?.answer ?? .failed {
            case .pending: return .failure(.resolving)
            case .failed: return .failure(.notResolved)
            case .addresses(let all):
                let addresses = record.target.counted(all)
                if addresses.isEmpty { return .failure(.notResolved) }
                return .success(Poll(anyOf: addresses, mark: mark, interface: interface))
            }
        }
    }

    /// A name without addresses.
    enum Unnamed: Error {
        case resolving
        case notResolved

        var path: NetworkPath {
            switch self {
            case .resolving: NetworkPath(reason: .resolving)
            case .notResolved: NetworkPath(flags: [], reason: .nameNotResolved)
            }
        }

        /// Why the servers that would know cannot be asked, if the kernel has no path to any of them; else this.
        func evaluation(byServers found: Evaluation) -> Evaluation {
            // Without a server there is no destination, and "no route" says nothing.
            let isBroken = !found.path.status.isReachable
            let isTold = found.path.destination != nil || found.path.reason != .noRoute
            var evaluation = Evaluation(path: isBroken && isTold ? found.path : path, lifetime: found.lifetime)
            evaluation.path.destination = nil
            return evaluation
        }
    }

    /// Lets go of the connection; the next question opens another.
    mutating func disconnect() {
        stopListening()
        evaluator = nil
    }
}
