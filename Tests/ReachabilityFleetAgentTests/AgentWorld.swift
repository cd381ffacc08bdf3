import LinuxSupport
import MQTT
import ReachabilityFleet
import ReachabilityLedger
import Testing

@testable import ReachabilityFleetAgent

/// An agent with a simulated clock, random source, broker and service.
struct AgentWorld {
    static let address = BrokerAddress(host: "broker.example.org", port: 8883, isSecured: true)

    private let time = Locked(Duration.seconds(1000))
    var machine: AgentMachine
    private(set) var actions: [AgentMachine.Action] = []
    private var lastToken: UInt64 = 0
    /// The messages without an acknowledgement, in the order of sending.
    private(set) var unacknowledged: [(token: PublishToken, message: BrokerMessage)] = []

    init(cursor: AgentCursor? = nil, chance: Double = 0.5, _ change: (inout AgentOptions) -> Void = { _ in }) throws {
        let place = try #require(DeviceID(site: "hq", device: "door"))
        var options = AgentOptions(broker: Self.address, place: place)
        options.jitter = .seconds(4)
        change(&options)
        machine = AgentMachine(
            options,
            cursor: cursor,
            .init(
                boot: "b",
                now: { [time] in time.withLock(\.self) },
                bootTime: { .seconds(5) },
                wall: { .seconds(1_700_000_000) },
                chance: { chance }
            )
        )
    }

    var now: Duration { time.withLock(\.self) }

    /// Passes an input to the agent, and returns its actions. Messages count as sent immediately.
    @discardableResult
    mutating func take(_ input: AgentMachine.Input) -> [AgentMachine.Action] {
        let done = machine.take(input)
        for case .publish(let message, let purpose) in done {
            lastToken += 1
            machine.sent(PublishToken(lastToken), purpose)
            unacknowledged.append((PublishToken(lastToken), message))
        }
        actions += done
        return done
    }

    mutating func broker(_ event: BrokerEvent) -> [AgentMachine.Action] {
        take(.broker(event, connection: machine.connection))
    }

    /// The broker acknowledges the first message without an acknowledgement.
    @discardableResult
    mutating func acknowledge(_ reason: ReasonCode = .success) -> [AgentMachine.Action] {
        broker(.published(unacknowledged.removeFirst().token, reason))
    }

    /// Forgets the messages of an ended connection.
    mutating func forgetMessages() { unacknowledged = [] }

    /// The path becomes available, and the broker accepts the connection.
    @discardableResult
    mutating func connect() -> [AgentMachine.Action] {
        take(.path(isSatisfied: true))
        unacknowledged = []
        return broker(.connected(sessionPresent: false))
    }

    /// Advances the time without any action.
    func wait(_ duration: Duration) { time.withLock { $0 += duration } }

    /// Advances the time to the next deadline.
    @discardableResult
    mutating func pass() -> [AgentMachine.Action] {
        guard let deadline = machine.deadline else { return [] }
        time.withLock { $0 = max($0, deadline) }
        return take(.time)
    }

    /// Answers a read of the log.
    @discardableResult
    mutating func page(_ numbers: [UInt64], hasMore: Bool = false, epoch: String = "e") throws -> [AgentMachine.Action]
    {
        let read = try #require(actions.lastRead)
        let entries = numbers.map { number in
            EventPage.Entry(
                position: EventPosition(epoch: epoch, number: number),
                time: .seconds(Int64(number)),
                kind: .outage(Self.outage("o\(number)"))
            )
        }
        return take(.page(.success(EventPage(entries: entries, hasMore: hasMore)), read: read))
    }

    static func outage(_ id: String) -> DeviceOutage {
        DeviceOutage(id: id, target: "internet", attribution: .us, cause: nil, start: .seconds(1), end: nil)
    }
}

extension [AgentMachine.Action] {
    /// The number of the last read of the log.
    var lastRead: UInt64? {
        compactMap { action in
            switch action {
            case .read(_, _, let read), .readHistory(_, let read): read
            default: nil
            }
        }.last
    }

    var messages: [BrokerMessage] {
        compactMap { if case .publish(let message, _) = $0 { message } else { nil } }
    }

    /// The published events.
    var events: [DeviceEvent] {
        messages.filter { $0.topic.hasSuffix("/event") }.compactMap { try? DeviceEvent($0.payload) }
    }

    var states: [DeviceState] {
        messages.filter { $0.topic.hasSuffix("/state") }.compactMap { try? DeviceState($0.payload) }
    }

    var answers: [DeviceAnswer] {
        messages.filter { $0.topic.hasSuffix("/detail") }.compactMap { try? DeviceAnswer($0.payload) }
    }

    var lines: [String] { compactMap { if case .log(let text) = $0 { text } else { nil } } }

    var connections: [BrokerOptions] { compactMap { if case .connect(let options, _) = $0 { options } else { nil } } }
}
