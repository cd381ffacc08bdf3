import LinuxSupport
import MQTT
import ReachabilityFleet

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
        guard link == .connected, message.topic == options.topic(.command) else { return }
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
            if let cursor = telling.rewind(replay, at: world.wall()) { act(.save(cursor)) }
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
