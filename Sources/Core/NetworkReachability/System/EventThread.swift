import Dispatch
import LinuxSupport
import Netlink

/// A thread that waits for the event socket and runs the listener's work, on the listener's queue, by itself.
///
/// A Dispatch source would wake a thread of Dispatch's, which wakes another for the queue: measured, that alone doubles the
/// time from a change to its notification. `sync` runs on the thread that calls it, so here one wake-up is enough.
final class EventThread: Sendable {
    private let events: EventSocket
    /// Its own, so that the end of one thread never wakes the next, which waits for the same socket.
    private let wakeup: Wakeup
    private let hasEnded = Locked(false)
    private let delivering = Locked(false)

    init(_ events: EventSocket) throws(NetlinkError) {
        self.events = events
        do {
            wakeup = try Wakeup()
        } catch {
            throw NetlinkError("make a descriptor to wake the thread that listens", error)
        }
    }

    /// Whether events are being read, or the listener has not returned yet.
    var isDelivering: Bool { delivering.withLock { $0 } }

    /// Runs `heard` on `queue` for each burst, until `end()`.
    func start(on queue: DispatchQueue, _ heard: @escaping @Sendable (EventBurst) -> Void) throws(NetlinkError) {
        do {
            // The thread holds the socket: its descriptor is closed when both the connection and the thread are done with it.
            try Thread.detach { [self] in
                while !hasEnded.withLock({ $0 }) {
                    var failure: SystemError?
                    do throws(SystemError) { try events.wait(or: wakeup) } catch { failure = error }
                    let noticed = SystemClock.monotonic
                    queue.sync { [self, failure] in
                        if hasEnded.withLock({ $0 }) { return }
                        delivering.withLock { $0 = true }
                        defer { delivering.withLock { $0 = false } }
                        var burst = events.drain()
                        burst.failure = burst.failure ?? failure
                        if burst.isEmpty { return }
                        // What cannot be read is not read again and again.
                        if burst.failure != nil { hasEnded.withLock { $0 = true } }
                        burst.noticed = noticed
                        if burst.messages > 1 { burst.completed = SystemClock.monotonic }
                        heard(burst)
                    }
                }
            }
        } catch {
            throw NetlinkError("start a thread to listen", error)
        }
    }

    /// Ends the thread soon, without waiting for it.
    func end() {
        hasEnded.withLock { $0 = true }
        wakeup.wake()
    }
}
