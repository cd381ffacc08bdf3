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
