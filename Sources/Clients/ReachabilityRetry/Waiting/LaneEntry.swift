import LinuxSupport

/// That a request is among those that have the coordinator watch its host: from the first time it has to, to its end.
final class LaneEntry: Sendable {
    private let coordinator: RetryCoordinator
    private let host: String?
    private let hasEntered = Locked(false)

    init(_ host: String?, at coordinator: RetryCoordinator) {
        self.coordinator = coordinator
        self.host = host
    }

    /// Has the host watched until `leave()`. Entering twice does nothing. Not for two threads at once.
    func enter() {
        if hasEntered.withLock({ $0 }) { return }
        coordinator.enter(host)
        hasEntered.withLock { $0 = true }
    }

    /// The request is at its end.
    func leave() {
        if hasEntered.withLock({ $0 }) { coordinator.leave(host) }
    }
}
