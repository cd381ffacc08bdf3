import LinuxSupport
public import ReachabilityRetry

/// Told what happens to the requests of a session: in order, by a task of its own. It may take its time: no request waits for it.
public protocol EventMonitor: Sendable {
    /// Something has happened.
    func handle(_ event: RequestEvent) async
}

/// What happens to a request. Requests are told apart by their numbers, which begin with 1 in each session.
public enum RequestEvent: Sendable {
    /// It is sent for the first time.
    case began(UInt64, OutgoingRequest)
    /// What its retrying tells: waits, redirects, probes.
    case retry(UInt64, RetryEvent)
    /// An answer has begun: a redirect, or one that is read.
    case answered(UInt64, ResponseHead)
    /// It is over; nil for an answer that is accepted. Its text may still be read as something.
    case finished(UInt64, RequestMetrics, RequestError?)
    /// The monitor was slower than what happened: so many events are missing here.
    case missed(Int)
}

/// The monitors of a session. Each has a queue of its own, of 1024 events; what finds it full is counted and let go of.
final class MonitorList: Sendable {
    private struct Queue {
        let continuation: AsyncStream<RequestEvent>.Continuation
        var missed = 0
    }

    let isEmpty: Bool
    private let queues: Locked<[Queue]>
    private let lastNumber = Locked<UInt64>(0)

    init(_ monitors: [any EventMonitor]) {
        isEmpty = monitors.isEmpty
        queues = Locked(
            monitors.map { monitor in
                let (events, continuation) = AsyncStream.makeStream(
                    of: RequestEvent.self,
                    bufferingPolicy: .bufferingOldest(1024)
                )
                Task { for await event in events { await monitor.handle(event) } }
                return Queue(continuation: continuation)
            }
        )
    }

    deinit {
        queues.withLock { $0.forEach { $0.continuation.finish() } }
    }

    /// A number no other request has.
    func nextNumber() -> UInt64 {
        lastNumber.withLock { number in
            number += 1
            return number
        }
    }

    /// Tells all of them, in the order it is called.
    func tell(_ event: RequestEvent) {
        queues.withLock { queues in
            for place in queues.indices { Self.tell(&queues[place], event) }
        }
    }

    private static func tell(_ queue: inout Queue, _ event: RequestEvent) {
        if queue.missed > 0 {
            if case .dropped = queue.continuation.yield(.missed(queue.missed)) {
                queue.missed += 1
                return
            }
            queue.missed = 0
        }
        if case .dropped = queue.continuation.yield(event) { queue.missed += 1 }
    }
}
