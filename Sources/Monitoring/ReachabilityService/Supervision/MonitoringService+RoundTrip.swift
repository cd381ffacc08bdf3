import Dispatch
import LinuxSupport
import NetworkReachability

extension MonitoringService {
    /// Goes once through all that a change goes through: the queue of each monitor, on which the kernel is asked a question, the books,
    /// the queue of the events, and that of the history.
    ///
    /// Where one of them hangs, `done` is never called. It is called with false where the kernel gave no answer. Each is waited for
    /// without a thread; nothing is changed and no packet is sent.
    package func roundTrip(through history: HistoryWriter?, _ done: @escaping @Sendable (Bool) -> Void) {
        let (trip, hasAnswered) = (DispatchGroup(), Locked(true))
        for monitor in monitors {
            monitor.queue.async(group: trip) {
                if !monitor.answers() { hasAnswered.withLock { $0 = false } }
            }
        }
        trip.notify(queue: eventQueue) { [weak self] in
            // The lock of the books.
            _ = self?.snapshot
            guard let history else { return done(hasAnswered.withLock(\.self)) }
            history.pass { done(hasAnswered.withLock(\.self)) }
        }
    }
}
