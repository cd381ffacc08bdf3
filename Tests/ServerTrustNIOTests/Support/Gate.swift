import LinuxSupport

/// Closed until it is opened, for any number who wait.
final class Gate: Sendable {
    private enum State {
        case open
        case closed([CheckedContinuation<Void, Never>])
    }

    private let state = Locked(State.closed([]))

    func open() {
        let waiters: [CheckedContinuation<Void, Never>] = state.withLock { state in
            defer { state = .open }
            guard case .closed(let waiters) = state else { return [] }
            return waiters
        }
        waiters.forEach { $0.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .closed(let waiters) = state else { return true }
                state = .closed(waiters + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
