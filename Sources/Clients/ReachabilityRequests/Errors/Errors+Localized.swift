public import FoundationEssentials
public import ReachabilityRetry

// `localizedDescription` of these errors, also as `any Error`, is their description.

extension RequestError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }

    /// The description. It needs no import of Foundation.
    public var localizedDescription: String { description }
}

extension AuthenticationError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension MissingSession: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension RetryError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension RetryPolicyError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension RetryTargetError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension InvalidRequest: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension StatusFailure: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}

extension AttemptError: LocalizedError {
    /// The description.
    public var errorDescription: String? { description }
}
