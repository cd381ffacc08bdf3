import LinuxSupport
import MQTT
import ReachabilityFleet

/// The decisions of an agent. A value that returns actions, and performs none.
///
/// The agent connects when the kernel has a path to the broker. On each connection it publishes its state (the birth
/// message), then the events after its cursor, then `caughtUp`. From then on it publishes each event as it occurs. It
/// sends the first 100 missed events at no more than 20 per second, and further ones at no more than 200 per second. It
/// sends up to 1,000 current events at once, and further ones at no more than 200 per second. The cursor follows the
/// acknowledgements of the broker. An agent that is killed therefore sends some events twice, but loses none.
struct AgentMachine {
    enum Input: Sendable {
        /// A change of the path to the broker, with the reason if it is missing.
        case path(isSatisfied: Bool, reason: String? = nil)
        /// A change of the path to the internet: `reachable`, `notReachable` or `unknown`.
        case internet(String)
        case broker(BrokerEvent, connection: UInt64)
        case page(Result<EventPage, EventLogError>, read: UInt64)
        case history(Result<[DeviceOutage], EventLogError>, read: UInt64)
        case answered(DeviceAnswer)
        /// The result of ``Action/readSummary``; nil if the service does not have it.
        case summary(DeviceSummary?)
        /// Time has passed.
        case time
        /// The agent has to end, for this reason.
        case leave(String)
    }

    enum Action: Hashable, Sendable {
        case connect(BrokerOptions, connection: UInt64)
        /// The caller passes the token of the message to ``sent(_:_:)`` before any other input.
        case publish(BrokerMessage, Purpose)
        case subscribe([String])
        case close, abandon
        /// Reads events. The result is ``Input/page(_:read:)``.
        case read(after: EventPosition?, waiting: Bool, read: UInt64)
        /// Reads outages. The result is ``Input/history(_:read:)``.
        case readHistory(since: Duration, read: UInt64)
        case answer(DeviceCommand)
        /// Reads the summary for home automation. The result is ``Input/summary(_:)``.
        case readSummary
        case save(AgentCursor)
        /// Checks the remaining validity of the certificate, and logs advice if it has to be renewed.
        case checkCertificate
        case log(String)
        case end
    }

    enum Purpose: Hashable, Sendable {
        case state, event, caughtUp, leaving, answer
        /// The announcement to Home Assistant.
        case announcement
    }

    /// The clocks, the boot id and the source of random numbers.
    struct Dependencies: Sendable {
        var boot: String
        /// The current time of a monotonic clock.
        var now: @Sendable () -> Duration
        /// The clock CLOCK_BOOTTIME.
        var bootTime: @Sendable () -> Duration
        /// The wall clock, since 1970.
        var wall: @Sendable () -> Duration
        /// A random number from 0 to 1.
        var chance: @Sendable () -> Double
    }

    let options: AgentOptions
    let world: Dependencies
    var link: BrokerLink
    /// The reason why there is no path.
    var lackReason: String?
    var internet = "unknown"
    /// The number of the current or last connection.
    var connection: UInt64 { link.attempts }
    var session = ""
    /// True if the broker has accepted a message on this connection.
    var isAcknowledged = false
    /// The messages that were logged since the last useful connection. Each is logged once.
    var logged: Set<String> = []
    var refreshAt: Duration?
    /// The time of the next check of the certificate; nil without a certificate.
    var certificateCheck: Duration?
    var summary: DeviceSummary?
    /// The time of the next update of the summary; nil if none is published.
    var summaryAt: Duration?
    var isReadingSummary = false
    var purposes: [PublishToken: Purpose] = [:]
    var forwarder: EventForwarder
    var bucket = CommandBucket()
    private var actions: [Action] = []

    init(_ options: AgentOptions, cursor: AgentCursor?, _ world: Dependencies) {
        (self.options, self.world) = (options, world)
        link = BrokerLink(jitter: options.jitter)
        forwarder = EventForwarder(cursor: cursor)
        certificateCheck = options.tls.certificate.map { _ in .zero }
    }

    /// The time of the next input ``Input/time``; nil if no timer is running.
    var deadline: Duration? {
        guard link.state != .over else { return nil }
        let own = link.state == .connected ? [refreshAt, summaryAt, forwarder.deadline] : [link.deadline]
        return (own + [certificateCheck]).compactMap(\.self).min()
    }

    /// Takes an input, and returns the actions to perform.
    mutating func take(_ input: Input) -> [Action] {
        actions = []
        switch input {
        case .path(let isSatisfied, let reason): changePath(isSatisfied, reason)
        case .internet(let word): changeInternet(word)
        case .broker(let event, let connection):
            if connection == self.connection { handle(event) }
        case .page(let page, let read):
            if forwarder.take(page, read: read, at: world.now()) { logFault(page) }
        case .history(let history, let read):
            if forwarder.take(history, read: read, at: world.now()) { logFault(history) }
        case .answered(let answer):
            if link.state == .connected {
                publish(.detail, answer.bytes(session: session), .answer)
            }
        case .summary(let summary): apply(summary)
        case .time: passTime()
        case .leave(let reason): leave(reason)
        }
        if link.state == .connected { forward() }
        return actions
    }

    /// Records the token of a message that was passed to the broker.
    mutating func sent(_ token: PublishToken, _ purpose: Purpose) {
        purposes[token] = purpose
        if purpose == .event { forwarder.sent(token) }
    }

    mutating func act(_ action: Action) { actions.append(action) }

    mutating func publish(
        _ kind: FleetTopic.Kind,
        _ payload: [UInt8],
        _ purpose: Purpose,
        isRetained: Bool = false
    ) {
        let message = BrokerMessage(
            topic: options.topic(kind),
            payload: payload,
            isRetained: isRetained,
            expiry: isRetained ? options.expiry : nil
        )
        act(.publish(message, purpose))
    }

    /// Logs a message once.
    mutating func logOnce(_ text: String) {
        if logged.insert(text).inserted { act(.log(text)) }
    }

    private mutating func logFault<Value>(_ result: Result<Value, EventLogError>) {
        guard case .failure(.unavailable(let text)) = result else { return }
        act(.log(text))
    }
}

/// A rate limit for commands: a burst of ten, then one per second. Commands that are expensive are limited to one per
/// ten seconds.
struct CommandBucket {
    private static let most = 10.0
    private static let costlyPause = Duration.seconds(10)

    private var left = most
    private var last = Duration.zero
    private var nextCostly = Duration.zero

    mutating func take(at now: Duration) -> Bool {
        left = min(Self.most, left + Double((now - last).nanoseconds) / 1e9)
        last = now
        guard left >= 1 else { return false }
        left -= 1
        return true
    }

    mutating func takeCostly(at now: Duration) -> Bool {
        guard now >= nextCostly else { return false }
        nextCostly = now + Self.costlyPause
        return true
    }
}

extension AgentMachine {
    /// Performs a command. Any client with permission to publish on the topic can send arbitrary bytes, so an unknown
    /// command is refused.
    mutating func perform(_ message: BrokerMessage) {
        guard link.state == .connected, message.topic == options.topic(.command) else { return }
        let now = world.now()
        guard bucket.take(at: now) else {
            return logOnce("too many commands; the rest is ignored")
        }
        let command: DeviceCommand
        do {
            command = try DeviceCommand(message.payload)
        } catch {
            act(.log("command refused: \(error.description.printable)"))
            return
        }
        switch command {
        case .detail: act(.answer(command))
        case .replay(let replay):
            if let cursor = forwarder.rewind(replay, at: world.wall()) { act(.save(cursor)) }
            if let mark = replay.mark { publishEvent(.replaying(mark: mark), nil, .caughtUp) }
            // The requester may have been away, and may know no machine. The state is sent after the mark. If it were
            // sent before the mark, the hub would request another replay.
            report()
            answer(DeviceAnswer(to: command))
        case .check: allow(.check, command, now)
        case .report: allow(.report, command, now)
        }
    }

    private mutating func allow(_ permission: AgentOptions.Permission, _ command: DeviceCommand, _ now: Duration) {
        guard options.permissions.contains(permission) else {
            return answer(
                DeviceAnswer(to: command, problem: "not allowed; the agent runs without --allow \(permission)")
            )
        }
        guard bucket.takeCostly(at: now) else {
            return answer(DeviceAnswer(to: command, problem: "too many commands; at most one in 10 s is performed"))
        }
        act(.answer(command))
    }

    private mutating func answer(_ answer: DeviceAnswer) {
        publish(.detail, answer.bytes(session: session), .answer)
    }
}
