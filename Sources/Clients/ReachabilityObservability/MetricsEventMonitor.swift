public import CoreMetrics
public import ReachabilityRequests

/// Publishes through swift-metrics what the requests of a session come to.
///
/// | Metric | Kind | Counts |
/// |---|---|---|
/// | `reachability_requests_total` | counter, with `outcome` | requests that ended |
/// | `reachability_request_seconds` | timer | how long each took, waits for the network included |
/// | `reachability_request_attempts_total` | counter | attempts that these took |
/// | `reachability_request_received_bytes_total` | counter | bytes of bodies that came, after a coding was undone |
/// | `reachability_request_events_missed_total` | counter | events that came too fast to be counted |
///
/// An outcome is `accepted`, `refused` (an answer that a check or a limit did not accept), `cancelled` or `failed` (no answer). No label
/// holds a name of a host or a URL: their number has no limit, and they may hold secrets.
///
/// ```swift
/// let session = Session(eventMonitors: [MetricsEventMonitor()])
/// ```
public struct MetricsEventMonitor: EventMonitor {
    private let outcomes: [Outcome: Counter]
    private let time: CoreMetrics.Timer
    private let attempts: Counter
    private let bytes: Counter
    private let missed: Counter

    /// A monitor, whose metrics are made at once, so that they can be seen before the first request. It may serve several sessions.
    ///
    /// - Parameter factory: What makes the metrics.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
        outcomes = Dictionary(
            uniqueKeysWithValues: Outcome.allCases.map { outcome in
                let dimensions = [("outcome", outcome.rawValue)]
                return (
                    outcome, Counter(label: "reachability_requests_total", dimensions: dimensions, factory: factory)
                )
            }
        )
        time = CoreMetrics.Timer(label: "reachability_request_seconds", dimensions: [], factory: factory)
        attempts = Counter(label: "reachability_request_attempts_total", dimensions: [], factory: factory)
        bytes = Counter(label: "reachability_request_received_bytes_total", dimensions: [], factory: factory)
        missed = Counter(label: "reachability_request_events_missed_total", dimensions: [], factory: factory)
    }

    /// Counts what is over.
    public func handle(_ event: RequestEvent) async {
        switch event {
        case .finished(_, let metrics, let error):
            outcomes[Outcome(error)]?.increment()
            time.recordNanoseconds(Int64(metrics.duration / .nanoseconds(1)))
            attempts.increment(by: metrics.attempts.count)
            bytes.increment(by: metrics.receivedBytes)
        case .missed(let count): missed.increment(by: count)
        case .began, .retry, .answered: break
        }
    }
}

/// What became of a request.
private enum Outcome: String, CaseIterable {
    case accepted, refused, cancelled, failed

    init(_ error: RequestError?) {
        switch error {
        case nil: self = .accepted
        case .explicitlyCancelled?: self = .cancelled
        case .responseValidationFailed?, .responseSerializationFailed?: self = .refused
        case _?: self = .failed
        }
    }
}
