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

    /// Numbers for new flights, none of them 0.
    func nextFlights(_ count: Int = 1) -> Range<UInt64> {
        state.withLock { state in
            let first = state.lastFlight + 1
            state.lastFlight += UInt64(count)
            return first..<(first + UInt64(count))
        }
    }

    /// Whether the engine will see to it; not when it is closed.
    func add(_ commands: Command...) -> Bool { add(commands) }

    func add(_ commands: [Command]) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            if state.isClosed { return (false, false) }
            let isFirst = state.commands.isEmpty
            state.commands += commands
            return (true, isFirst)
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
