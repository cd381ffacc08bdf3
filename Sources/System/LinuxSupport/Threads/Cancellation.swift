/// Something under way that ends when it is cancelled or let go.
package final class Cancellation: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    deinit {
        cancel()
    }

    /// Ends it; a second call does nothing.
    package func cancel() {
        let action = action.withLock { action in
            defer { action = nil }
            return action
        }
        action?()
    }
}

/// An action that runs at most once, and never after it was cancelled: what somebody waits for whose time is played.
package final class OneShot: Sendable {
    private let action: Locked<(@Sendable () -> Void)?>

    package init(_ action: @escaping @Sendable () -> Void) {
        self.action = Locked(action)
    }

    /// Whether it has run or was cancelled.
    package var isOver: Bool { action.withLock { $0 == nil } }

    package func run() {
        take()?()
    }

    package func cancel() {
        _ = take()
    }

    private func take() -> (@Sendable () -> Void)? {
        action.withLock { action in
            defer { action = nil }
            return action
        }
    }
}
