import LinuxPrimitives
import Netlink

/// For those who ask the kernel about more than the paths of targets.
extension PathMonitor {
    /// Runs `action` on the queue after each look at targets, until the result is cancelled or let go; it may still run once
    /// then. There are looks only while there are targets that somebody listens to: after each change of links, addresses,
    /// rules, next hops and default routes, and after those of routes that lead to one of the targets.
    func addObserver(_ action: @escaping @Sendable () -> Void) -> Cancellation {
        let number = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = action
            return state.lastObserver
        }
        return Cancellation { [weak self] in
            // Let go of outside the lock.
            let action = self?.state.withLock { $0.observers.removeValue(forKey: number) }
            withExtendedLifetime(action) {}
        }
    }

    func callObservers() {
        for observer in state.withLock({ Array($0.observers.values) }) { observer() }
    }

    /// The connection that targets are looked at over, for questions from any thread.
    func connection() throws(NetlinkError) -> any KernelConnection {
        try session.withLock { session throws(NetlinkError) in try session.connect() }
    }
}
