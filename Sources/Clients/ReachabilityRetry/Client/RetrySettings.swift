/// The retry policy and options of all requests of a client.
///
/// ```swift
/// var settings = RetrySettings(policy: try RetryPolicy(deadline: .seconds(30)))
/// settings.options.idempotency = .made()
/// settings.options.observer = logger.retryObserver
/// let client = RetryingHTTPClient(settings: settings)
/// let urgent = client.overriding { $0.options.priority = .high }
/// ```
///
/// `RetryingHTTPClient`, `RetryingURLSession` and `Session` have them. `overriding(_:)` of each returns the same client with other settings.
public struct RetrySettings: Sendable {
    /// When a request is sent again.
    public var policy: RetryPolicy

    /// The other settings. The limits of a host are those of the coordinator.
    public var options: RequestRetryOptions

    /// Settings for all requests of a client.
    public init(policy: RetryPolicy = .standard, options: RequestRetryOptions = RequestRetryOptions()) {
        self.policy = policy
        self.options = options
    }

    /// The settings with a change.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetrySettings {
        var settings = self
        try change(&settings)
        return settings
    }
}
