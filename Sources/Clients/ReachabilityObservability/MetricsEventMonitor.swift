public import CoreMetrics
public import Dispatch
public import ReachabilityRequests

/// An event monitor that publishes the results of a session's requests through swift-metrics.
///
/// | Metric | Kind | Unit and meaning |
/// |---|---|---|
/// | `reachability_requests_total` | counter, with `outcome` | requests that ended |
/// | `reachability_request_seconds` | timer | the duration of a request, including waits for the network |
/// | `reachability_request_attempts_total` | counter | attempts of these requests |
/// | `reachability_request_received_bytes_total` | counter | bytes of response bodies, after decompression |
/// | `reachability_request_events_missed_total` | counter | events that were not counted, because they arrived too fast |
///
/// The outcome is `accepted`, `refused` (a check or a limit did not accept the response), `cancelled` or `failed` (no
/// response). No label contains a host name or a URL, because their number is unlimited and they may contain secrets.
///
/// ```swift
/// let session = Session(eventMonitors: [MetricsEventMonitor()])
/// ```
public struct MetricsEventMonitor: EventMonitor {
    /// The queue on which requests are counted.
    public let queue: DispatchQueue

    private let outcomes: [Outcome: Counter]
    private let time: CoreMetrics.Timer
    private let attempts: Counter
    private let bytes: Counter
    private let missed: Counter

    /// Creates a monitor and its metrics. The metrics are visible before the first request. One monitor may serve
    /// several sessions.
    ///
    /// - Parameters:
    ///   - factory: Creates the metrics.
    ///   - queue: The queue on which requests are counted.
    public init(
        factory: any MetricsFactory = MetricsSystem.factory,
        queue: DispatchQueue = DispatchQueue(label: "reachability.metrics")
    ) {
        self.queue = queue
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

    /// Counts a request that has ended.
    public func requestDidFinish(_ request: Request) { count(request.metrics, request.error) }

    /// Counts missed events.
    public func didMissEvents(_ count: Int) { missed.increment(by: count) }

    /// Counts a request. The metrics are nil if it was not sent.
    func count(_ metrics: RequestMetrics?, _ error: AFError?) {
        outcomes[Outcome(error)]?.increment()
        guard let metrics else { return }
        time.recordNanoseconds(Int64(metrics.duration / .nanoseconds(1)))
        attempts.increment(by: metrics.attempts.count)
        bytes.increment(by: metrics.receivedBytes)
    }
}

/// The outcome of a request.
private enum Outcome: String, CaseIterable {
    case accepted, refused, cancelled, failed

    init(_ error: AFError?) {
        switch error {
        case nil: self = .accepted
        case .explicitlyCancelled?: self = .cancelled
        case .responseValidationFailed?, .responseSerializationFailed?: self = .refused
        case _?: self = .failed
        }
    }
}
