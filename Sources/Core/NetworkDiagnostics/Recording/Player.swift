package import Dispatch
package import LinuxSupport
package import Netlink
package import NetworkReachability

/// Replays a recording to a monitor: the recorded answers are returned, and the recorded events occur in their order.
///
/// If the monitor sends the queries that were recorded, all answers, times and printed lines are the same as in the
/// recording. If it does not, because another version decides differently, the answer nearest in time is used.
/// `diagnosis` reports queries without an answer.
package final class Player: Sendable {
    let state: Locked<State>
    private let filtersRoutes: Bool
    /// The maximum number of actions between two turns that are not in the recording. Further actions wait for the next
    /// turn.
    private static let unrecordedLimit = 64
    /// The time after the last turn in which the monitor can finish its work.
    private static let afterwards = Duration.seconds(1)

    package init(_ recording: Recording) {
        filtersRoutes = recording.header.options.filtersRouteMessages
        state = Locked(State(recording))
    }

    /// The recorded kernel, clock and name service.
    package var environment: MonitorEnvironment {
        var environment = MonitorEnvironment(kernel: self, clock: self, resolver: self)
        environment.filtersRoutes = filtersRoutes
        return environment
    }

    /// Replays everything.
    ///
    /// - Parameters:
    ///   - queue: The monitor's queue. Do not call this on it.
    ///   - pause: Called outside the queue with the time until the next event.
    ///   - begin: Adds the listeners.
    package func run(on queue: DispatchQueue, pause: (Duration) -> Void = { _ in }, begin: @escaping () -> Void) {
        var hasBegun = false
        while let time = state.withLock({ $0.nextTime }) {
            runUnrecorded(until: time, on: queue)
            guard let turn = state.withLock({ $0.nextTurn() }) else { return }
            pause(turn.time - state.withLock { $0.now })
            state.withLock { $0.enter(turn) }
            queue.sync {
                if turn.note.kind == .start {
                    if !hasBegun { begin() }
                    hasBegun = true
                } else {
                    perform(turn)
                }
            }
            runUnrecorded(until: turn.time, on: queue)
        }
    }

    /// Finishes the work of a monitor without listeners, and discards the rest.
    ///
    /// - Parameter queue: The monitor's queue. Do not call this on it.
    package func end(on queue: DispatchQueue) {
        // The end of a listener is queued behind the monitor's own work.
        queue.sync {}
        runUnrecorded(until: state.withLock { $0.now } + Self.afterwards, on: queue)
        let over = state.withLock { $0.discardActions() }
        withExtendedLifetime(over) {}
    }

    /// Returns the current time of the replay, which printed lines contain.
    package func moment() -> RecordedMoment { state.withLock { $0.moment } }

    /// A sentence about the queries to which the recording contains no answer; nil if all queries were answered.
    package var diagnosis: String? {
        state.withLock { state in
            guard let first = state.missing.first else { return nil }
            let others = state.missing.count - 1
            let and = others == 0 ? "" : " and \(others) other quer\(others == 1 ? "y" : "ies")"
            return "the recording contains no answer for \(first)\(and); the nearest answer is used"
        }
    }

    private func runUnrecorded(until time: Duration, on queue: DispatchQueue) {
        // With answers that do not fit, one attempt may lead to the next without any time passing.
        for _ in 0..<Self.unrecordedLimit {
            guard let action = state.withLock({ $0.takeUnrecorded(until: time) }) else { return }
            queue.sync { action.run() }
        }
    }

    private func perform(_ turn: RecordedTurns.Turn) {
        switch turn.note.kind {
        case .events:
            if !turn.burst.isEmpty { state.withLock { $0.received }?(turn.burst) }
        case .timer:
            turn.note.numbers(1).flatMap { numbers in state.withLock { $0.timers.removeValue(forKey: numbers[0]) } }?
                .run()
        case .resolved:
            let completion = Int64(turn.note.subject).flatMap { number in
                state.withLock { $0.lookups.removeValue(forKey: number) }
            }
            completion?(Result(recorded: turn.note.value))
        case let kind: state.withLock { $0.watches[kind] }?()
        }
    }
}

// MARK: - The recorded system

extension Player: Kernel {
    package func connect() throws(NetlinkError) -> any KernelConnection {
        try outcome(of: .connect)
        return PlayedConnection(self)
    }

    /// Always empty, because a recording does not contain default routes.
    package func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { [] }

    package func watchNamespace(
        on queue: DispatchQueue,
        _ changed: @escaping @Sendable () -> Void
    ) -> Cancellation? { watch(.namespaceChanged, changed) }

    /// Throws the recorded error.
    fileprivate func outcome(of kind: Note.Kind) throws(NetlinkError) {
        if let error = state.withLock({ $0.take(kind) }).flatMap({ NetlinkError(recorded: $0) }) { throw error }
    }

    /// Registers an action for turns of this kind. Returns nil if the recorder could not watch for them.
    private func watch(_ kind: Note.Kind, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        state.withLock { state in
            guard state.take(.watch, kind.rawValue) == "true" else { return nil }
            state.watches[kind] = action
            return Cancellation { [self] in _ = self.state.withLock { $0.watches.removeValue(forKey: kind) } }
        }
    }
}

extension Player: MonitorClock {
    package var monotonic: Duration { moment().monotonic }
    package var boot: Duration { moment().boot }

    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let action = OneShot(action)
        state.withLock { $0.wait(action, max(.zero, delay)) }
        return Cancellation { action.cancel() }
    }

    package func enqueue(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.wait(OneShot(action), .zero) }
    }

    package func watchForSleep(
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation? { watch(.wake, action) }
}

extension Player: HostResolver {
    package func localAddresses(of name: String) -> [NameLookup.Address] {
        state.withLock { $0.take(.hosts, name) }.flatMap { [NameLookup.Address](recorded: $0) } ?? []
    }

    package func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    ) {
        state.withLock { $0.wait(for: name, completion) }
    }

    package func watchConfiguration(
        on queue: DispatchQueue,
        _ changed: @escaping @Sendable () -> Void
    ) -> Cancellation? { watch(.namesChanged, changed) }
}

/// A connection to the kernel of a recording. Requests are encoded and replies decoded as usual.
private final class PlayedConnection: KernelConnection {
    private let player: Player
    private let socket: Locked<QuerySocket>

    init(_ player: Player) {
        self.player = player
        socket = Locked(
            QuerySocket(
                PlayedTransport { (request) throws(NetlinkError) in
                    try player.state.withLock { $0.reply(to: request) }.get()
                }
            )
        )
    }

    var isCurrent: Bool { player.state.withLock { $0.take(.current) } != "false" }
    var hasEvents: Bool { false }

    func query(_ queries: [KernelQuery]) throws(NetlinkError) -> [KernelResponse] {
        try queries.answers(
            netlink: { (queries) throws(NetlinkError) in
                try socket.withLock { socket throws(NetlinkError) in try socket.query(queries) }
            },
            hardware: { link in
                recorded(.hardware, link.recorded).flatMap { LinkHardware(recorded: $0) } ?? LinkHardware()
            },
            peers: { link in recorded(.peers, "\(link)").flatMap { [TunnelFarEnd](recorded: $0) } }
        )
    }

    private func recorded(_ kind: Note.Kind, _ subject: String) -> String? {
        player.state.withLock { $0.take(kind, subject) }
    }

    func listen(
        on queue: DispatchQueue,
        _ received: @escaping @Sendable (EventBurst) -> Void
    ) throws(NetlinkError) -> [String] {
        try player.outcome(of: .listen)
        player.state.withLock { $0.received = received }
        return []
    }

    func setFilter(_ filter: RouteFilter?) throws(NetlinkError) { try player.outcome(of: .filter) }

    func stopListening() {
        player.state.withLock { $0.received = nil }
    }
}

// MARK: - Targets

/// The hosts of a recording, which a monitor watches while it is recorded or replayed.
package struct RecordedTargets: Sendable {
    package let monitor: PathMonitor
    /// The hosts as they were given, nil for general reachability.
    private var managers: [(name: String?, manager: NetworkReachabilityManager)] = []

    /// Creates managers of hosts.
    ///
    /// - Parameter hosts: Names and addresses. If empty, general reachability.
    /// - Throws: ``NetworkReachabilityError`` if one of them is not a host.
    package init(
        _ hosts: [String],
        in environment: MonitorEnvironment,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) {
        monitor = PathMonitor(environment: environment, logger: options.logger)
        for host in hosts.isEmpty ? [nil] : hosts.map(Optional.init) {
            let target =
                if let host {
                    try NetworkReachability.Target(host: host, options: options)
                } else {
                    try NetworkReachability.Target(options: options)
                }
            managers.append((host, NetworkReachabilityManager(target, monitor: monitor, options: options)))
        }
    }

    /// Adds a listener to each target. Listeners run on the monitor's queue.
    package func listen(
        for interest: NetworkReachabilityInterest,
        _ listener: @escaping @Sendable (_ host: String?, NetworkPath) -> Void
    ) -> [NetworkReachabilityToken] {
        managers.map { host, manager in
            manager.addPathListener(for: interest, onQueue: nil) { listener(host, $0) }
        }
    }
}
