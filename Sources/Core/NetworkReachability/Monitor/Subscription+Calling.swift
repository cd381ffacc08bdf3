import LinuxPrimitives
import Netlink

extension Subscription {
    /// Calls a listener, counts that, and measures how long after the notification it was. Who waits for the news waits for
    /// none of it but one reading of the clock.
    ///
    /// - Parameter noticed: When the notification was noticed; nil where none led to the call.
    func call(since noticed: Duration?, _ listener: () -> Void) {
        let monitor = record.monitor
        let lag = noticed.map { monitor.surroundings.clock.monotonic - $0 }
        listener()
        monitor.calls.withLock { $0.count(lag: lag) }
    }
}
