import LinuxPrimitives

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
