import LinuxSupport
public import Logging

/// Told what happens, in order for each request, by whoever it happens to. It must not block.
public typealias RetryObserver = @Sendable (_ event: RetryEvent) -> Void

/// What happens to what is retried.
public enum RetryEvent: Sendable {
    /// A wait for a retry begins: after this attempt, with its reason set, and for how long it is to be; nil for as long as the target is
    /// not reachable.
    case waiting(RetryTarget, RetryAttempt, pause: Duration?)
    /// A server has led the request to another place. The URL may have secrets.
    case redirected(RetryTarget, to: String)
    /// A host has answered though the monitor says that it is not reachable. The answer is believed. Told once for each path.
    case disagreement(RetryTarget, RetryVerdict)
    /// The wait for the network was longer than ``RetryLimits/probeInterval``: the attempt that begins is to show whether the monitor is
    /// right.
    case probing(RetryTarget)
    /// It is over; nil for a success.
    case ended(RetryTarget, RetryError.Ending?, attempts: Int)
}

/// What a coordinator has counted since it was made.
public struct RetryStatistics: Hashable, Sendable {
    /// Attempts that were begun.
    public internal(set) var attempts = 0
    /// Waits for a retry that were begun.
    public internal(set) var retries = 0
    /// What succeeded: with an answer, whatever its status, that was not to be retried.
    public internal(set) var successes = 0
    /// What ended without.
    public internal(set) var failures = 0
    /// Redirects that were followed.
    public internal(set) var redirects = 0
    /// How often a host answered that the monitor said is not reachable.
    public internal(set) var disagreements = 0
    /// Attempts that were made to show whether the monitor is right.
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
    /// What was counted until now.
    public var statistics: RetryStatistics { state.withLock { $0.statistics } }

    /// An attempt begins.
    func countAttempt() { state.withLock { $0.statistics.attempts += 1 } }

    /// Counts an event, and tells of it.
    func tell(_ event: RetryEvent) {
        state.withLock { $0.statistics.count(event) }
        observer?(event)
    }
}

extension Logger {
    /// What writes events to this log: waits and probes at `debug`, ends without success at `info`, and where an answer disproves the
    /// monitor at `notice`. Hosts are told, and never a URL.
    public var retryObserver: RetryObserver {
        { event in
            switch event {
            case .waiting(let target, let attempt, let pause):
                debug(
                    "retry waits",
                    metadata: [
                        "host": "\(target)", "attempt": "\(attempt.number)",
                        "for": "\(attempt.reason?.rawValue ?? "")",
                        "pause": "\(pause.map { "\($0)" } ?? "until it is reachable")",
                        "stage": "\(attempt.stage.map { "\($0)" } ?? "")",
                    ]
                )
            case .redirected(let target, _): debug("redirected", metadata: ["host": "\(target)"])
            case .probing(let target): debug("retry probes", metadata: ["host": "\(target)"])
            case .disagreement(let target, let verdict):
                notice(
                    "answered although it is said not to be reachable",
                    metadata: ["host": "\(target)", "verdict": "\(verdict)"]
                )
            case .ended(let target, let ending?, let attempts):
                info(
                    "not retried any more",
                    metadata: ["host": "\(target)", "ending": "\(ending.rawValue)", "attempts": "\(attempts)"]
                )
            case .ended: break
            }
        }
    }
}

/// Follows requests from their beginning to their end, each attempt as a part of its request: what a system of tracing needs. One tracer
/// serves any number of requests. `ReachabilityObservability` has one for swift-distributed-tracing.
public protocol RequestTracer: Sendable {
    /// A request begins, in the task of who sends it.
    ///
    /// - Parameter request: As the caller made it.
    func begin(_ request: PlainRequest) -> any RequestTrace
}

/// One request that is followed. It is told by whoever it happens to, in order, and must not block.
public protocol RequestTrace: Sendable {
    /// An attempt begins: the first, a repetition, or one where a redirect has led to.
    ///
    /// - Parameter request: Before it is adapted.
    func beginAttempt(_ request: PlainRequest) -> any AttemptTrace

    /// Something happens between attempts.
    func record(_ event: RetryEvent)

    /// It is over.
    ///
    /// - Parameters:
    ///   - status: Of the answer that is returned; nil where there is none.
    ///   - error: What it failed with; nil where there is an answer.
    func end(status: Int?, error: RetryError?)
}

/// One attempt that is followed.
public protocol AttemptTrace: Sendable {
    /// Header fields that tell the server which trace it is a part of. They take the place of the request's own of these names.
    var fields: [PlainRequest.Field] { get }

    /// Runs the attempt, adapters included, so that whatever it does is known to be a part of it.
    func run<Value>(_ attempt: () async -> Value) async -> Value

    /// It is over.
    ///
    /// - Parameters:
    ///   - request: As it was sent, adapted; nil where it did not come to that.
    ///   - status: Of its answer; nil where there is none.
    ///   - error: What it failed with. `CancellationError` also where it was cut because the path had gone, which
    ///     ``RequestTrace/record(_:)`` is told then.
    func end(_ request: PlainRequest?, status: Int?, error: (any Error)?)
}
