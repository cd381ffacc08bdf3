/// How all requests of a client are retried: said once, where the client is made, and changed for those that are to go another way.
///
/// ```swift
/// var settings = RetrySettings(policy: try RetryPolicy(deadline: .seconds(30)))
/// settings.options.idempotency = .made()
/// settings.options.observer = logger.retryObserver
/// let client = HTTPClient.shared.retrying(settings)
/// let urgent = client.overriding { $0.options.priority = .high }
/// ```
///
/// `retrying(_:)` of `HTTPClient` and of `URLSession`, and a `Session`, take it; `overriding(_:)` of each makes another with the same
/// client behind it.
public struct RetrySettings: Sendable {
    /// When a request is sent again.
    public var policy: RetryPolicy

    /// All else: the limits of a host are those of its coordinator.
    public var options: RequestRetryOptions

    /// Settings.
    public init(policy: RetryPolicy = .standard, options: RequestRetryOptions) {
        self.policy = policy
        self.options = options
    }

    /// The settings, changed.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetrySettings {
        var settings = self
        try change(&settings)
        return settings
    }
}

/// A client whose requests are all retried in the same way. A value; the client behind it stays the caller's, who shuts it down.
///
/// It is made by `retrying(_:)` of `HTTPClient` and of `URLSession`, and sends as they do.
public struct RetryingClient<Client: Sendable>: Sendable {
    /// What sends.
    public let client: Client
    /// When and how requests are sent again.
    public let settings: RetrySettings

    package init(_ client: Client, _ settings: RetrySettings) {
        self.client = client
        self.settings = settings
    }

    /// The same client with other settings: for one request, or for many.
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> RetryingClient {
        RetryingClient(client, try settings.overriding(change))
    }
}
