/// Finds out with packets whether a retry makes sense, which the kernel cannot know. `CheckAdvisor` of the product `ReachabilityChecks` is an
/// advisor.
///
/// It is called after an attempt has failed in the network while the monitor does not report "not reachable", and before the wait for the next
/// attempt begins. Advice does not shorten a wait and does not change a limit.
public protocol RetryAdvisor: Sendable {
    /// Returns the advice for a failure. It may take a few seconds, which count as waited. When the task is cancelled it must return soon, with any
    /// advice. Many requests may call it at the same time.
    ///
    /// - Parameter host: A name or an address in lower case; nil for the network at large.
    func advice(for host: String?) async -> RetryAdvice

    /// Returns when the obstacle of ``RetryAdvice/wait`` is over, or the task is cancelled.
    func waitForEnd(of host: String?) async
}

/// The advice for a retry.
public enum RetryAdvice: String, Hashable, Sendable, CaseIterable {
    /// Retry as the tables of the policy say.
    case goOn
    /// Retry after the backoff, even after a change of the path: the cause is the host.
    case backOff
    /// Retry when an obstacle is over, a captive portal for example, at no charge to the budget.
    case wait
    /// Do not retry: it would fail in the same way.
    case end
}
