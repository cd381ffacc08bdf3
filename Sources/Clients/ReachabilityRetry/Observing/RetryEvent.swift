import LinuxSupport
public import Logging

/// Receives the events of a request one after the other, in the order of their occurrence. Called on any thread. It
/// must not block.
public typealias RetryObserver = @Sendable (_ event: RetryEvent) -> Void

/// An event of a request that is retried.
public enum RetryEvent: Sendable {
    /// A wait before a retry begins, after this attempt. The attempt contains the reason. `pause` is the planned
    /// duration; nil if the request waits until the target is reachable.
    case waiting(RetryTarget, RetryAttempt, pause: Duration?)
    /// A server redirected the request to this URL, which may contain secrets.
    case redirected(RetryTarget, to: String)
    /// A host responded although the monitor reports that it is not reachable. The response has priority. Published
    /// once for each path.
    case disagreement(RetryTarget, HostReachability)
    /// The wait for the network exceeded ``RetryLimits/probeInterval``. The next attempt is a probe, which tests the
    /// monitor.
    case probing(RetryTarget)
    /// The request ended, for this reason; nil for a success.
    case ended(RetryTarget, RetryError.Ending?, attempts: Int)
}

/// The counters of a coordinator since its creation.
public struct RetryStatistics: Hashable, Sendable {
    /// The number of attempts that began.
    public internal(set) var attempts = 0
    /// The number of waits for a retry that began.
    public internal(set) var retries = 0
    /// The number of requests that ended with a success: a response, whatever its status, that is not retried.
    public internal(set) var successes = 0
    /// The number of requests that ended without a success.
    public internal(set) var failures = 0
    /// The number of redirects that were followed.
    public internal(set) var redirects = 0
    /// The number of times that a host responded although the monitor reported that it was not reachable.
    public internal(set) var disagreements = 0
    /// The number of probes.
    public internal(set) var probes = 0

    mutating func count(_ event: RetryEvent) {
        switch event {
        case .waiting: retries += 1
        case .redirected: redirects += 1
        case .disagreement: disagreements += 1
        case .probing: probes += 1
        case .ended(_, nil, _): successes += 1
        case .ended: failures += 1
        }
    }
}

extension RetryCoordinator {
    /// The current counters.
    public var statistics: RetryStatistics { state.withLock { $0.statistics } }

    /// Counts an attempt.
    func countAttempt() { state.withLock { $0.statistics.attempts += 1 } }

    /// Counts an event, and sends it to the observer.
    func publish(_ event: RetryEvent) {
        state.withLock { $0.statistics.count(event) }
        observer?(event)
    }
}

extension Logger {
    /// An observer that writes events to this log. The levels are `debug` for waits, redirects and probes, `info` for
    /// requests that end without success, and `notice` for a response that contradicts the monitor. The log contains
    /// hosts, but no URL.
    public var retryObserver: RetryObserver {
        { event in
            switch event {
            case .waiting(let target, let attempt, let pause):
                debug(
                    "waiting before retry",
                    metadata: [
                        "host": "\(target)", "attempt": "\(attempt.number)",
                        "reason": "\(attempt.reason?.rawValue ?? "")",
                        "pause": "\(pause.map { "\($0)" } ?? "until it is reachable")",
                        "stage": "\(attempt.stage.map { "\($0)" } ?? "")",
                    ]
                )
            case .redirected(let target, _): debug("redirected", metadata: ["host": "\(target)"])
            case .probing(let target): debug("sending probe", metadata: ["host": "\(target)"])
            case .disagreement(let target, let reachability):
                notice(
                    "response received from a host reported as not reachable",
                    metadata: ["host": "\(target)", "reachability": "\(reachability)"]
                )
            case .ended(let target, let ending?, let attempts):
                info(
                    "request ended without success",
                    metadata: ["host": "\(target)", "ending": "\(ending.rawValue)", "attempts": "\(attempts)"]
                )
            case .ended: break
            }
        }
    }
}

/// A tracer of requests and their attempts. One tracer serves any number of requests. `ReachabilityObservability`
/// contains one for swift-distributed-tracing.
public protocol RequestTracer: Sendable {
    /// Begins the trace of a request. Called in the task of the caller.
    ///
    /// - Parameter request: The original request.
    func begin(_ request: RequestHead) -> any RequestTrace
}

/// The trace of one request. Its functions are called one after the other and must not block.
public protocol RequestTrace: Sendable {
    /// Begins the trace of an attempt: the first, a retry, or a hop of a redirect.
    ///
    /// - Parameter request: The request before it is adapted.
    func beginAttempt(_ request: RequestHead) -> any AttemptTrace

    /// Records an event between attempts.
    func record(_ event: RetryEvent)

    /// Ends the trace.
    ///
    /// - Parameters:
    ///   - status: The status of the response that is returned; nil without a response.
    ///   - error: The error of the request; nil if there is a response.
    func end(status: Int?, error: RetryError?)
}

/// The trace of one attempt.
public protocol AttemptTrace: Sendable {
    /// The header fields that send the trace context to the server. They replace fields of the same name in the
    /// request.
    var fields: [RequestHead.Field] { get }

    /// Runs the attempt, including adapters, in the context of its trace.
    func run<Value>(_ attempt: () async -> Value) async -> Value

    /// Ends the trace of the attempt.
    ///
    /// - Parameters:
    ///   - request: The adapted request, as it was sent; nil if it was not adapted.
    ///   - status: The status of the response; nil without a response.
    ///   - error: The error of the attempt. It is `CancellationError` also if the attempt was ended because the path
    ///     was lost. ``RequestTrace/record(_:)`` receives that reason later.
    func end(_ request: RequestHead?, status: Int?, error: (any Error)?)
}
