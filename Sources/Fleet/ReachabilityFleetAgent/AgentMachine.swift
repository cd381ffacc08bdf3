import LinuxSupport
package import MQTT
package import ReachabilityFleet

/// What an agent does next. A value that decides, and does nothing itself.
///
/// It connects when the kernel has a path to the broker. On each connection it says that it is there (birth), and tells what came after
/// its cursor, at most 20 events a second, and 200 after the first 100, then `caughtUp`; from then on each event as it happens. The cursor follows the broker's
/// acknowledgements, so that an agent which is killed tells some events twice, and loses none.
package struct AgentMachine {
    package enum Input: Sendable {
        /// True if there is a path to the broker, and why not.
        case path(isSatisfied: Bool, reason: String? = nil)
        /// True if there is a path to the internet, in a word.
        case internet(String)
        /// - Parameter connection: Its number.
        case broker(BrokerEvent, connection: UInt64)
        case page(Result<EventPage, EventLogError>, read: UInt64)
        case history(Result<[DeviceOutage], EventLogError>, read: UInt64)
        case answered(DeviceAnswer)
        /// Time has passed.
        case time
        /// It is to end, for a reason.
        case leave(String)
    }

    package enum Action: Hashable, Sendable {
        case connect(BrokerOptions, connection: UInt64)
        /// The token of the message is told to ``sent(_:_:)`` before anything else.
        case publish(BrokerMessage, Purpose)
        case subscribe([String])
        case close, abandon
        /// Asks for events, answered with ``Input/page(_:read:)``.
        case read(after: EventPosition?, waiting: Bool, read: UInt64)
        /// Asks for outages, answered with ``Input/history(_:read:)``.
        case readHistory(since: Duration, read: UInt64)
        case answer(DeviceCommand)
        case save(AgentCursor)
        /// Sees how long the certificate is valid, and says what is to be done.
        case lookAtCertificate
        case say(String)
        case end
    }

    package enum Purpose: Hashable, Sendable {
        case state, event, caughtUp, farewell, answer
    }

    /// What it takes from the world.
    package struct Surroundings: Sendable {
        package var boot: String
        /// Now, on a clock that only the machine is told.
        package var now: @Sendable () -> Duration
        package var bootTime: @Sendable () -> Duration
        package var wall: @Sendable () -> Duration
        /// From 0 to 1.
        package var chance: @Sendable () -> Double

        package init(
            boot: String,
            now: @escaping @Sendable () -> Duration,
            bootTime: @escaping @Sendable () -> Duration,
            wall: @escaping @Sendable () -> Duration,
            chance: @escaping @Sendable () -> Double
        ) {
            (self.boot, self.now, self.bootTime, self.wall, self.chance) = (boot, now, bootTime, wall, chance)
        }
    }

    let options: AgentOptions
    let world: Surroundings
    var link: BrokerLink
    /// The reason why there is no path.
    var lackReason: String?
    var internet = "unknown"
    /// The number of the current or last connection.
    var connection: UInt64 { link.attempts }
    var session = ""
    /// True if the broker has taken a message of this connection.
    var isHeard = false
    /// The messages that were logged since the last useful connection. Each is logged once.
    var complaints: Set<String> = []
    var refreshAt: Duration?
    /// When to look at the certificate; nil where there is none.
    var lookAt: Duration?
    var purposes: [PublishToken: Purpose] = [:]
    var forwarder: EventForwarder
    var bucket = CommandBucket()
    private var actions: [Action] = []

    package init(_ options: AgentOptions, cursor: AgentCursor?, _ world: Surroundings) {
        (self.options, self.world) = (options, world)
        link = BrokerLink(jitter: options.jitter)
        forwarder = EventForwarder(cursor: cursor)
        lookAt = options.tls.certificate.map { _ in .zero }
    }

    /// When it wants to be told that time has passed.
    package var deadline: Duration? {
        guard link.state != .over else { return nil }
        let own = link.state == .connected ? [refreshAt, forwarder.deadline] : [link.deadline]
        return (own + [lookAt]).compactMap(\.self).min()
    }

    package mutating func take(_ input: Input) -> [Action] {
        actions = []
        switch input {
        case .path(let isSatisfied, let reason): changePath(isSatisfied, reason)
        case .internet(let word): changeInternet(word)
        case .broker(let event, let connection):
            if connection == self.connection { hear(event) }
        case .page(let page, let read):
            if forwarder.take(page, read: read, at: world.now()) { sayFault(page) }
        case .history(let history, let read):
            if forwarder.take(history, read: read, at: world.now()) { sayFault(history) }
        case .answered(let answer):
            if link.state == .connected {
                publish(.detail, answer.bytes(session: session), .answer)
            }
        case .time: passTime()
        case .leave(let reason): leave(reason)
        }
        if link.state == .connected { forward() }
        return actions
    }

    /// A message is on its way.
    package mutating func sent(_ token: PublishToken, _ purpose: Purpose) {
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

    /// Says a thing once.
    mutating func complain(_ text: String) {
        if complaints.insert(text).inserted { act(.say(text)) }
    }

    private mutating func sayFault<Value>(_ result: Result<Value, EventLogError>) {
        guard case .failure(.unavailable(let text)) = result else { return }
        act(.say(text))
    }
}

/// How many commands are heeded: ten at once, then one a second; and of those that cost something, one in ten seconds.
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
    /// Does what it is asked for, if it is one of four things; whoever may publish there may send anything.
    mutating func obey(_ message: BrokerMessage) {
        guard link.state == .connected, message.topic == options.topic(.command) else { return }
        let now = world.now()
        guard bucket.take(at: now) else {
            return complain("more commands came than are heeded; the rest is passed over")
        }
        let command: DeviceCommand
        do {
            command = try DeviceCommand(message.payload)
        } catch {
            act(.say("a command is refused: \(error.description.printable)"))
            return
        }
        switch command {
        case .detail: act(.answer(command))
        case .replay(let replay):
            if let cursor = forwarder.rewind(replay, at: world.wall()) { act(.save(cursor)) }
            if let mark = replay.mark { publishEvent(.replaying(mark: mark), nil, .caughtUp) }
            // Who asks may have been away, and knows nobody. After the mark, or it would be asked once more.
            report()
            answer(DeviceAnswer(to: command))
        case .check: allow(.check, command, now)
        case .report: allow(.report, command, now)
        }
    }

    private mutating func allow(_ permission: AgentOptions.Permission, _ command: DeviceCommand, _ now: Duration) {
        guard options.permissions.contains(permission) else {
            return answer(
                DeviceAnswer(to: command, problem: "not allowed here: the agent runs without --allow \(permission)")
            )
        }
        guard bucket.takeCostly(at: now) else {
            return answer(DeviceAnswer(to: command, problem: "too soon: one is done in ten seconds"))
        }
        act(.answer(command))
    }

    private mutating func answer(_ answer: DeviceAnswer) {
        publish(.detail, answer.bytes(session: session), .answer)
    }
}
