import Dispatch
package import LinuxSupport
package import Logging
package import MQTT
package import NetworkReachability
package import ReachabilityFleet

/// The connection of a hub to the broker. It passes the messages of machines to a ``HubWriter`` while the network has a
/// path to the broker. Thread-safe.
///
/// libmosquitto acknowledges a message before the hub has saved it, so a hub that is killed loses messages. Therefore
/// the hub requests from each machine, after its first message, all events after the last saved one. It does the same
/// after it has dropped a message, and after the connection to the broker was lost.
package final class BrokerFollower: Sendable {
    /// The state of the connection.
    package struct Status: Hashable, Sendable {
        package var isConnected = false
        /// The number of connections so far.
        package var connections: UInt64 = 0
        /// The number of messages that were dropped because the queue was full.
        package var overruns: UInt64 = 0
        /// The reason why there is no useful connection; nil if there is one.
        package var problem: String?
    }

    struct State {
        var link: BrokerLink
        var connection: (any BrokerConnection)?
        var session = ""
        /// The number of the current attempt; nil between attempts.
        var attempt: UInt64?
        /// True if the writer was notified of the connection.
        var isConnectionRecorded = false
        /// The machines whose replay requests are pending.
        var owed: Set<DeviceID> = []
        var nextReplay = Duration.zero
        var replayTimer: Cancellation?
        var timer: Cancellation?
        var path: Cancellation?
        var status = Status()
        /// The function to call after the last message of the hub.
        var stopping: OneShot?
    }

    private let options: HubOptions
    private let broker: any MessageBroker
    let writer: HubWriter
    private let logger: Logger?
    /// The clock of the connection's timeouts and pauses.
    private let clock: @Sendable () -> Duration
    let queue = DispatchQueue(label: "ReachabilityFleetHub.broker")
    let state: Locked<State>

    package init(
        _ options: HubOptions,
        broker: any MessageBroker,
        writer: HubWriter,
        logger: Logger? = nil,
        clock: @escaping @Sendable () -> Duration = { SystemClock.monotonic }
    ) {
        (self.options, self.broker, self.writer) = (options, broker, writer)
        (self.logger, self.clock) = (logger, clock)
        state = Locked(State(link: BrokerLink(jitter: options.jitter)))
        writer.addListener { [weak self] decisions, _ in self?.requestReplays(decisions) }
    }

    package var status: Status { state.withLock(\.status) }

    /// Starts to connect.
    ///
    /// - Throws: An error if the address of the broker is invalid.
    package func begin() throws(NetworkReachabilityError) {
        let manager = try NetworkReachabilityManager(host: options.broker.host, options: .init())
        let listener = manager.addPathListener(onQueue: queue) { [weak self] path in
            self?.changePath(path.status.isReachable)
        }
        state.withLock { state in
            state.path = Cancellation { listener.cancel() }
        }
    }

    /// Publishes that the hub is offline, and waits for the acknowledgement, for at most 3 s.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let done = OneShot { continuation.resume() }
            queue.async { [self] in leave(done) }
        }
    }

    // MARK: On the queue

    private func changePath(_ isSatisfied: Bool) {
        perform(
            state.withLock { $0.link.changePath(isSatisfied, at: clock(), chance: .random(in: 0...1)) }
        )
    }

    private func pass() { perform(state.withLock { $0.link.pass(to: clock()) }) }

    private func perform(_ step: BrokerLink.Step?) {
        switch step {
        case .connect: connect()
        case .abandon:
            state.withLock(\.connection)?.abandon()
            connectionEnded(BrokerError(options.broker, .silent))
        case nil: break
        }
        let deadline = state.withLock(\.link.deadline)
        let timer = deadline.map { deadline in
            DispatchTimer.schedule(after: max(.zero, deadline - clock()), on: queue) { [weak self] in
                self?.pass()
            }
        }
        state.withLock { $0.timer = timer }
    }

    private func connect() {
        let (number, version) = state.withLock { state in
            state.session = String(UInt64.random(in: 0...(1 << 53)), radix: 36)
            state.attempt = state.link.attempts
            return (state.link.attempts, state.link.version)
        }
        var connection = BrokerOptions(address: options.broker, client: options.name)
        (connection.tls, connection.version) = (options.tls, version)
        (connection.keepAlive, connection.sessionExpiry) = (options.keepAlive, options.sessionExpiry)
        connection.will = BrokerWill(presence(false), delay: .zero)
        let made = broker.connect(connection) { [weak self] event in
            // Messages are frequent, and are passed to the writer directly, but only after the writer was notified of
            // the connection.
            guard let self else { return }
            switch event {
            case .message(let message):
                if state.withLock({ $0.attempt == number && $0.isConnectionRecorded }) { take(message) }
            case .connected:
                recordConnection(number)
                handle(event, number)
            default: handle(event, number)
            }
        }
        state.withLock { $0.connection = made }
    }

    private func presence(_ isOnline: Bool) -> BrokerMessage {
        let presence = HubState(session: state.withLock(\.session), isOnline: isOnline)
        return BrokerMessage(topic: FleetTopic.hub.description, payload: presence.bytes, isRetained: true)
    }

    private func handle(_ event: BrokerEvent, _ number: UInt64) {
        queue.async { [self] in
            // Events of connections that were dropped are ignored.
            guard state.withLock({ $0.link.attempts == number && $0.connection != nil }) else { return }
            switch event {
            case .connected: accept()
            case .ended(let error): if fallsBack(error) { perform(.connect) } else { connectionEnded(error) }
            case .published(_, let reason): settle(reason)
            case .subscribed, .message: break
            }
        }
    }

    /// Records a failed attempt. Returns true if another attempt starts with MQTT 3.1.1.
    private func fallsBack(_ error: BrokerError?) -> Bool {
        state.withLock { state in
            guard state.stopping == nil else { return false }
            return state.link.fallsBack(error, at: clock())
        }
    }

    /// Takes the acknowledgement of a message of the hub. A broker that refuses the messages of the hub may still
    /// deliver those of machines.
    private func settle(_ reason: ReasonCode) {
        guard reason.isRefusal else {
            return state.withLock { state in if state.status.isConnected { state.status.problem = nil } }
        }
        let problem =
            "\(options.broker) refuses messages of the hub: \(reason); check the broker's access control list and the name in the certificate"
        let isNew = state.withLock { state in
            defer { state.status.problem = problem }
            return state.status.problem != problem
        }
        if isNew { logger?.warning("\(problem)") }
    }

    /// Called on the thread of the connection.
    private func recordConnection(_ number: UInt64) {
        state.withLock { state in
            guard state.attempt == number else { return }
            state.isConnectionRecorded = true
            writer.brokerConnected()
        }
    }

    private func accept() {
        let connection = state.withLock { state in
            _ = state.link.accept(at: clock())
            state.link.confirm()
            state.status.isConnected = true
            state.status.connections += 1
            state.status.problem = nil
            return state.connection
        }
        logger?.notice("connected to \(options.broker), as \(options.name)")
        connection?.publish(presence(true))
        connection?.subscribe([FleetTopic.filter(.state), FleetTopic.filter(.event)])
        perform(nil)
    }

    private func connectionEnded(_ error: BrokerError?) {
        var problem = error.map { "\($0)" } ?? "the connection was closed"
        let now = clock()
        let (isNew, stopping) = state.withLock { state in
            _ = state.link.connectionEnded(error?.cause, at: now, chance: .random(in: 0...1))
            if state.link.hasConflict {
                problem = "\(BrokerError(options.broker, .nameConflict(options.name, option: "--name")))"
            }
            if state.isConnectionRecorded, state.stopping == nil { writer.brokerDisconnected() }
            defer {
                (state.attempt, state.isConnectionRecorded) = (nil, false)
                (state.connection, state.status.isConnected) = (nil, false)
                state.status.problem = problem
            }
            return (state.status.problem != problem, state.stopping)
        }
        if let stopping { return stopping.run() }
        if isNew { logger?.warning("\(problem); retrying") }
        perform(nil)
    }

    private func leave(_ done: OneShot) {
        let connection = state.withLock { state in
            state.path.take()?.cancel()
            state.timer.take()?.cancel()
            state.stopping = done
            return state.connection
        }
        guard let connection else { return done.run() }
        connection.publish(presence(false))
        connection.close()
        let timer = DispatchTimer.schedule(after: BrokerLink.closeTimeout, on: queue) { done.run() }
        state.withLock { $0.timer = timer }
    }

    // MARK: Messages

    /// Called on the thread of the connection, for one message after another.
    private func take(_ message: BrokerMessage) {
        let taken = Hub.Message(
            topic: message.topic,
            payload: message.payload,
            isRetained: message.isRetained,
            time: SystemClock.real
        )
        guard !writer.take([taken]) else { return }
        state.withLock { $0.status.overruns += 1 }
        if case .device(let place, _)? = FleetTopic(message.topic) { writer.recordDroppedMessage(place) }
    }
}

/// Requests to machines.
extension BrokerFollower {
    /// The maximum number of requests at a time. The next ones follow after `replayPause`.
    private static let replayLimit = 200
    private static let replayPause = Duration.milliseconds(100)
    /// The expiry of a request. A machine that connects later receives a new request.
    private static let askExpiry = Duration.seconds(60)

    /// Deletes the retained state of a machine at the broker.
    ///
    /// - Parameter replay: The replay request for the machine; nil if the machine is not online.
    package func forget(_ place: DeviceID, asking replay: DeviceReplay?) {
        let connection = state.withLock(\.connection)
        let topic = FleetTopic.device(place, .state).description
        connection?.publish(BrokerMessage(topic: topic, payload: [], isRetained: true))
        if let replay { connection?.publish(Self.question(replay, to: place)) }
    }

    private static func question(_ replay: DeviceReplay, to place: DeviceID) -> BrokerMessage {
        let topic = FleetTopic.device(place, .command).description
        return BrokerMessage(topic: topic, payload: DeviceCommand.replay(replay).bytes, expiry: askExpiry)
    }

    /// Requests events from machines whose events are incomplete.
    func requestReplays(_ decisions: [Hub.Decision]) {
        let places = decisions.compactMap { if case .replayRequired(let place) = $0 { place } else { nil } }
        guard !places.isEmpty else { return }
        queue.async { [self] in
            state.withLock { $0.owed.formUnion(places) }
            requestReplays()
        }
    }

    private func requestReplays() {
        let hub = writer.hub
        let (connection, places) = state.withLock { state -> ((any BrokerConnection)?, [DeviceID]) in
            guard state.status.isConnected else {
                // Machines publish their states again on the next connection.
                state.owed = []
                return (nil, [])
            }
            let now = SystemClock.monotonic
            guard now >= state.nextReplay else { return (nil, []) }
            let places = state.owed.sorted().prefix(Self.replayLimit)
            state.owed.subtract(places)
            state.nextReplay = now + Self.replayPause
            return (state.connection, Array(places))
        }
        for place in places {
            guard let replay = hub.replay(for: place) else { continue }
            connection?.publish(Self.question(replay, to: place))
        }
        let pause = state.withLock { $0.owed.isEmpty ? nil : $0.nextReplay - SystemClock.monotonic }
        guard let pause else { return }
        let timer = DispatchTimer.schedule(after: max(.zero, pause), on: queue) { [weak self] in
            self?.requestReplays()
        }
        state.withLock { $0.replayTimer = timer }
    }
}

/// The settings of a hub's connection to the broker.
package struct HubOptions: Sendable {
    package var broker: BrokerAddress
    package var tls: BrokerOptions.TLS
    /// The client identifier. The broker keeps messages for it while the hub is not connected.
    package var name: String
    package var jitter = Duration.seconds(2)
    package var keepAlive = Duration.seconds(60)
    /// The time for which the broker keeps messages while the hub is not connected.
    package var sessionExpiry = Duration.seconds(86_400)

    package init(broker: BrokerAddress, tls: BrokerOptions.TLS = .init(), name: String) {
        (self.broker, self.tls, self.name) = (broker, tls, name)
    }
}
