import LinuxPrimitives

/// How callers speak to the thread of an engine. Thread-safe.
final class EngineInbox: Sendable {
    enum Command: Sendable {
        case start(UInt64, EngineJob)
        case cancel(UInt64)
    }

    private struct State {
        var commands: [Command] = []
        var lastFlight: UInt64 = 0
        var isClosed = false
    }

    let poller: Poller
    private let state = Locked(State())

    init() throws(SocketError) {
        poller = try Poller()
    }

    /// A number for a new flight, not 0.
    func nextFlight() -> UInt64 {
        state.withLock {
            $0.lastFlight += 1
            return $0.lastFlight
        }
    }

    /// Whether the engine will see to it; not when it is closed.
    func add(_ command: Command) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            if state.isClosed { return (false, false) }
            state.commands.append(command)
            return (true, state.commands.count == 1)
        }
        if isFirst { poller.wake() }
        return isTaken
    }

    /// Lets the thread end.
    func close() {
        state.withLock { $0.isClosed = true }
        poller.wake()
    }

    /// What there is to do; nil once it is closed and nothing is left.
    func take() -> [Command]? {
        state.withLock { state in
            let commands = state.commands
            state.commands = []
            return state.isClosed && commands.isEmpty ? nil : commands
        }
    }
}
