import LinuxSupport
public import ReachabilityRetry

/// Receives the events of the requests of a session, in order, in a task of its own. No request waits for it.
public protocol EventMonitor: Sendable {
    /// Receives an event.
    func handle(_ event: RequestEvent) async
}

/// An event of a request. Each request has a number, which begins with 1 in each session.
public enum RequestEvent: Sendable {
    /// The request is sent for the first time.
    case began(UInt64, URLRequest)
    /// An event of its retries: a wait, a redirect, a probe.
    case retry(UInt64, RetryEvent)
    /// An answer has begun: a redirect, or one that is read.
    case answered(UInt64, HTTPURLResponse)
    /// The request has ended; without an error if the answer is accepted. It is not serialized yet.
    case finished(UInt64, RequestMetrics, AFError?)
    /// The number of events that are missing here, because the monitor was too slow.
    case missed(Int)
}

/// The monitors of a session. Each has a queue of 1024 events. If it is full, events are counted and dropped.
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

    /// The number of the next request.
    func nextNumber() -> UInt64 {
        lastNumber.withLock { number in
            number += 1
            return number
        }
    }

    /// Reports an event to all monitors.
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
