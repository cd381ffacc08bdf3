/// Who finds out, with packets, what the kernel cannot know: whether a retry makes sense. `CheckAdvisor` of the product
/// `ReachabilityChecks` is one.
///
/// It is asked after an attempt has failed in the network while the monitor does not say "not reachable", and before the wait for the
/// next one begins; what is advised may shorten no wait, and changes none of the limits.
public protocol RetryAdvisor: Sendable {
    /// What to do about a failure. It may take a few seconds, which count as waited; it ends soon when the task is cancelled, whatever it
    /// then says. Many requests may ask at the same time.
    ///
    /// - Parameter host: A name or an address in lower case; nil for the network at large.
    func advice(for host: String?) async -> RetryAdvice

    /// Returns when what was to be waited for is over (``RetryAdvice/wait``), or the task is cancelled.
    func waitForEnd(of host: String?) async
}

/// What an advisor says of a retry.
public enum RetryAdvice: String, Hashable, Sendable, CaseIterable {
    /// As the policy's tables have it.
    case goOn
    /// By the backoff, also where a new path would let it go at once: it is the host.
    case backOff
    /// Not before something is over, and at no charge: a captive portal, for example.
    case wait
    /// Never: it would fail in the same way.
    case end
}
