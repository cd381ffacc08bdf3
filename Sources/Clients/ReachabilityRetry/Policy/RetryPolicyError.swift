/// What is wrong with a policy or with the settings of a coordinator; thrown when it is made, never later.
public enum RetryPolicyError: Error, Hashable, Sendable {
    /// A duration that is less than zero, or zero where time must pass.
    case invalidDuration(name: String, Duration)
    /// A number that is too small.
    case tooSmall(name: String, Double, minimum: Double)
    /// Without a deadline a retry could wait for ever for a network that does not return.
    case neverEnds
}

extension RetryPolicyError: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidDuration(let name, let duration):
            "\(name) is \(duration): give a duration that is not negative, and more than zero for a deadline"
        case .tooSmall(let name, let value, let minimum):
            "\(name) is \(value): give \(minimum) or more"
        case .neverEnds:
            "a policy with retries and without a deadline never ends where the network does not return: give a deadline,"
                + " or a single attempt"
        }
    }
}

extension RetryPolicyError {
    static func check(_ duration: Duration, _ name: String) throws(RetryPolicyError) {
        guard duration >= .zero else { throw .invalidDuration(name: name, duration) }
    }

    static func check(_ value: Double, _ name: String, atLeast minimum: Double) throws(RetryPolicyError) {
        // Written so that it refuses what is not a number, too.
        guard value >= minimum, value.isFinite else { throw .tooSmall(name: name, value, minimum: minimum) }
    }
}
