package import Dispatch
package import LinuxPrimitives
import NetworkReachability

extension ManualClock: MonitorClock {
    package func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let once = OneShot(action)
        let id = addTimer(after: delay, queue) { once.run() }
        // What is due at once needs no time to pass.
        if delay <= .zero {
            queue.async { once.run() }
            remove(id)
        }
        return Cancellation { [weak self] in
            once.cancel()
            self?.remove(id)
        }
    }

    package func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        let id = addWatcher(queue, action)
        return Cancellation { [weak self] in self?.remove(id) }
    }
}
