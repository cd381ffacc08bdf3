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
