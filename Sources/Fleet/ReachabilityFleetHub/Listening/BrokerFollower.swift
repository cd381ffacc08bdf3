import Dispatch
import LinuxSupport
package import Logging
package import MQTT
package import NetworkReachability
package import ReachabilityFleet

/// Hands what machines say over to a ``HubKeeper``, as long as there is a path to the broker. Thread-safe.
///
/// libmosquitto acknowledges a message before anybody has seen it, so what the hub had not written when it was killed is gone from the
/// broker. Therefore each machine is asked, when it is heard of for the first time, to tell again what came after the last event that is
/// written down. The same is asked of one whose message there was no room for, and of one that was only unheard while the broker was away.
package final class BrokerFollower: Sendable {
    /// How it stands with the broker.
    package struct Status: Hashable, Sendable {
        package var isConnected = false
        /// How often it was connected.
        package var connections: UInt64 = 0
        /// Messages there was no room for.
        package var overruns: UInt64 = 0
        /// What the last connection ended with, or why one that there is is of no use; nil where all is well.
        package var problem: String?
    }

    struct State {
        var link: BrokerLink
        var version = VersionChoice()
        var conflict = NameConflict()
        var connection: (any BrokerConnection)?
        var session = ""
        /// The number of the attempt that is not given up; nil where there is none.
        var attempt: UInt64?
        /// Whether the keeper was told that the broker is there.
        var isTold = false
        /// Whom to ask, once there is time for it.
        var owed: Set<FleetPlace> = []
        var nextAsk = Duration.zero
        var askTimer: Cancellation?
        var timer: Cancellation?
        var path: Cancellation?
        var status = Status()
        /// Called when it has left.
        var farewell: OneShot?
    }

    /// So long the broker has to take the farewell.
    private static let patience = Duration.seconds(3)

    private let options: HubOptions
    private let broker: any MessageBroker
    let keeper: HubKeeper
    private let logger: Logger?
    let queue = DispatchQueue(label: "ReachabilityFleetHub.broker")
    let state: Locked<State>

    package init(
        _ options: HubOptions,
        broker: any MessageBroker,
        keeper: HubKeeper,
        logger: Logger? = nil
    ) {
        (self.options, self.broker, self.keeper, self.logger) = (options, broker, keeper, logger)
        state = Locked(State(link: BrokerLink(jitter: options.jitter)))
        keeper.addListener { [weak self] decisions, _ in self?.heard(decisions) }
    }

    package var status: Status { state.withLock(\.status) }

    /// Begins to follow.
    ///
    /// - Throws: Where the broker's name or address is none that can be watched.
    package func begin() throws(NetworkReachabilityError) {
        let manager = try NetworkReachabilityManager(host: options.broker.host, options: .init())
        let listener = manager.addPathListener(onQueue: queue) { [weak self] path in
            self?.changePath(path.status.isReachable)
        }
        state.withLock { state in
            state.path = Cancellation { listener.cancel() }
        }
    }

    /// Says to the broker that it goes, and waits until that has it, or a few seconds.
    package func stop() async {
        await withCheckedContinuation { continuation in
            let done = OneShot { continuation.resume() }
            queue.async { [self] in leave(done) }
        }
    }

    // MARK: On the queue

    private func changePath(_ isSatisfied: Bool) {
        perform(
            state.withLock { $0.link.changePath(isSatisfied, at: SystemClock.monotonic, chance: .random(in: 0...1)) }
        )
    }

    private func pass() { perform(state.withLock { $0.link.pass(to: SystemClock.monotonic) }) }

    private func perform(_ step: BrokerLink.Step?) {
        switch step {
        case .connect: connect()
        case .abandon:
            state.withLock(\.connection)?.abandon()
            lose(BrokerError(options.broker, .silent))
        case nil: break
        }
        let deadline = state.withLock(\.link.deadline)
        let timer = deadline.map { deadline in
            DispatchTimer.schedule(after: max(.zero, deadline - SystemClock.monotonic), on: queue) { [weak self] in
                self?.pass()
            }
        }
        state.withLock { $0.timer = timer }
    }

    private func connect() {
        let (number, version) = state.withLock { state in
            state.session = String(UInt64.random(in: 0...(1 << 53)), radix: 36)
            state.attempt = state.link.attempts
            return (state.link.attempts, state.version.version)
        }
        var connection = BrokerOptions(address: options.broker, client: options.name)
        (connection.tls, connection.version) = (options.tls, version)
        (connection.keepAlive, connection.sessionExpiry) = (options.keepAlive, options.sessionExpiry)
        connection.will = BrokerWill(presence(false), delay: .zero)
        let made = broker.connect(connection) { [weak self] event in
            // Messages are the many, and go straight where they belong, but none before the keeper knows of the connection.
            guard let self else { return }
            switch event {
            case .message(let message): if state.withLock({ $0.attempt == number && $0.isTold }) { take(message) }
            case .connected:
                tellOfConnection(number)
                hear(event, number)
            default: hear(event, number)
            }
        }
        state.withLock { $0.connection = made }
    }

    private func presence(_ isOnline: Bool) -> BrokerMessage {
        let presence = HubState(session: state.withLock(\.session), isOnline: isOnline)
        return BrokerMessage(topic: FleetTopic.hub.description, payload: presence.bytes, isRetained: true)
    }

    private func hear(_ event: BrokerEvent, _ number: UInt64) {
        queue.async { [self] in
            // One that was given up says nothing any more.
            guard state.withLock({ $0.link.attempts == number && $0.connection != nil }) else { return }
            switch event {
            case .connected: accept()
            case .ended(let error): if fallsBack(error) { perform(.connect) } else { lose(error) }
            case .published(_, let reason): settle(reason)
            case .subscribed, .message: break
            }
        }
    }

    /// Whether the broker takes no MQTT 5, and is asked with 3.1.1 instead. The messages that a hub needs are the same there.
    private func fallsBack(_ error: BrokerError?) -> Bool {
        state.withLock { state in
            guard case .connecting = state.link.state, state.farewell == nil, state.version.fallsBack(error) else {
                return false
            }
            _ = state.link.retry(at: SystemClock.monotonic)
            return true
        }
    }

    /// The broker answers for what the hub said. One that takes nothing does not say that it hands nothing on, either.
    private func settle(_ reason: ReasonCode) {
        guard reason.isRefusal else {
            return state.withLock { state in if state.status.isConnected { state.status.problem = nil } }
        }
        let problem =
            "\(options.broker) refuses what a hub says: \(reason): see the broker's access control list, and whose certificate this is"
        let isNew = state.withLock { state in
            defer { state.status.problem = problem }
            return state.status.problem != problem
        }
        if isNew { logger?.warning("\(problem)") }
    }

    /// On the thread of the connection.
    private func tellOfConnection(_ number: UInt64) {
        state.withLock { state in
            guard state.attempt == number else { return }
            state.isTold = true
            keeper.brokerIsBack()
        }
    }

    private func accept() {
        let connection = state.withLock { state in
            state.link.accept()
            state.conflict.accept(at: SystemClock.monotonic)
            _ = state.version.settle()
            state.status.isConnected = true
            state.status.connections += 1
            state.status.problem = nil
            return state.connection
        }
        logger?.notice("connected to \(options.broker), as \(options.name)")
        connection?.publish(presence(true))
        connection?.subscribe([FleetTopic.everybody(.state), FleetTopic.everybody(.event)])
        perform(nil)
    }

    private func lose(_ error: BrokerError?) {
        var problem = error.map { "\($0)" } ?? "the connection was closed"
        let now = SystemClock.monotonic
        let (isNew, farewell) = state.withLock { state in
            _ = state.conflict.lose(error?.cause, at: now)
            if state.conflict.isLikely {
                problem = "\(BrokerError(options.broker, .nameConflict(options.name, option: "--name")))"
            }
            if state.isTold, state.farewell == nil { keeper.brokerWasLost() }
            defer {
                (state.attempt, state.isTold) = (nil, false)
                (state.connection, state.status.isConnected) = (nil, false)
                state.status.problem = problem
                state.link.lose(at: now, chance: .random(in: 0...1), waiting: state.conflict.wait)
            }
            return (state.status.problem != problem, state.farewell)
        }
        if let farewell { return farewell.run() }
        if isNew { logger?.warning("\(problem); tries again") }
        perform(nil)
    }

    private func leave(_ done: OneShot) {
        let connection = state.withLock { state in
            state.path.take()?.cancel()
            state.timer.take()?.cancel()
            state.farewell = done
            return state.connection
        }
        guard let connection else { return done.run() }
        connection.publish(presence(false))
        connection.close()
        let timer = DispatchTimer.schedule(after: Self.patience, on: queue) { done.run() }
        state.withLock { $0.timer = timer }
    }

    // MARK: Messages

    /// On the thread of the connection, in order.
    private func take(_ message: BrokerMessage) {
        let delivery = HubKeeper.Delivery(
            Hub.Message(
                topic: message.topic,
                payload: message.payload,
                isRetained: message.isRetained,
                time: SystemClock.real
            )
        ) {}
        guard !keeper.take([delivery]) else { return }
        state.withLock { $0.status.overruns += 1 }
        if case .device(let place, _)? = FleetTopic(message.topic) { keeper.lose(place) }
    }
}

/// What the hub asks machines for.
extension BrokerFollower {
    /// So many are asked at a time, and when the next are.
    private static let askLimit = 200
    private static let askPause = Duration.milliseconds(100)
    /// A question that was not heard by then is not worth an answer: whoever comes later is asked when it comes.
    private static let askExpiry = Duration.seconds(60)

    /// Has a machine forgotten by the broker, too.
    ///
    /// - Parameter replay: What it is asked for then; nil where it is not there.
    package func forget(_ place: FleetPlace, asking replay: DeviceReplay?) {
        let connection = state.withLock(\.connection)
        let topic = FleetTopic.device(place, .state).description
        connection?.publish(BrokerMessage(topic: topic, payload: [], isRetained: true))
        if let replay { connection?.publish(Self.question(replay, to: place)) }
    }

    private static func question(_ replay: DeviceReplay, to place: FleetPlace) -> BrokerMessage {
        let topic = FleetTopic.device(place, .command).description
        return BrokerMessage(topic: topic, payload: DeviceCommand.replay(replay).bytes, expiry: askExpiry)
    }

    /// Asks machines that are behind to tell again.
    func heard(_ decisions: [Hub.Decision]) {
        let places = decisions.compactMap { if case .behind(let place) = $0 { place } else { nil } }
        guard !places.isEmpty else { return }
        queue.async { [self] in
            state.withLock { $0.owed.formUnion(places) }
            ask()
        }
    }

    private func ask() {
        let hub = keeper.hub
        let (connection, places) = state.withLock { state -> ((any BrokerConnection)?, [FleetPlace]) in
            guard state.status.isConnected else {
                // Who may be there is heard of again with the next connection.
                state.owed = []
                return (nil, [])
            }
            let now = SystemClock.monotonic
            guard now >= state.nextAsk else { return (nil, []) }
            let places = state.owed.sorted().prefix(Self.askLimit)
            state.owed.subtract(places)
            state.nextAsk = now + Self.askPause
            return (state.connection, Array(places))
        }
        for place in places {
            guard let replay = hub.replay(for: place) else { continue }
            connection?.publish(Self.question(replay, to: place))
        }
        let pause = state.withLock { $0.owed.isEmpty ? nil : $0.nextAsk - SystemClock.monotonic }
        guard let pause else { return }
        let timer = DispatchTimer.schedule(after: max(.zero, pause), on: queue) { [weak self] in self?.ask() }
        state.withLock { $0.askTimer = timer }
    }
}
