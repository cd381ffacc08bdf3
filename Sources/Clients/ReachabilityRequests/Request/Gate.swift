import LinuxSupport

/// Holds the work of a request while it is suspended.
final class Gate: Sendable {
    private let state = Locked<(isShut: Bool, waiting: [AsyncStream<Void>.Continuation])>((false, []))

    /// Returns when the gate is open, or the task is cancelled.
    func pass() async {
        guard state.withLock({ $0.isShut }) else { return }
        let (openings, continuation) = AsyncStream.makeStream(of: Void.self)
        let isShut = state.withLock { state in
            if state.isShut { state.waiting.append(continuation) }
            return state.isShut
        }
        if isShut { for await _ in openings {} }
    }

    func shut() { state.withLock { $0.isShut = true } }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (false, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }
}
