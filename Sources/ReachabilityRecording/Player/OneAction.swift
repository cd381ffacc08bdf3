import Netlink

/// An action that runs at most once, and never after it was cancelled.
final class OneAction: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    var isOver: Bool { action.withLock { $0 == nil } }

    func run() {
        take()?()
    }

    func cancel() {
        _ = take()
    }

    private func take() -> (@Sendable () -> Void)? {
        action.withLock { action in
            defer { action = nil }
            return action
        }
    }
}
