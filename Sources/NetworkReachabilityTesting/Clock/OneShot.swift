import Netlink

/// An action that runs at most once, and never after it was cancelled.
final class OneShot: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

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
