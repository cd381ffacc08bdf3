/// What is to be retried, as far as retrying depends on it: where it goes, and whether doing it twice does harm. A plain
/// value, which any client's request can be described with.
public struct RetryTarget: Hashable, Sendable {
    /// The host, by name or address, in lower case; nil for the network at large. Budgets and the limits of release are per host.
    public let host: String?

    /// Whether doing it twice means the same as once.
    public let isRepeatable: Bool

    /// Who goes first among those that wait for the same host.
    public let priority: RetryPriority

    /// An HTTP request.
    ///
    /// - Parameters:
    ///   - host: A name or an address, without scheme, port or brackets.
    ///   - method: How it is sent; idempotent ones may be repeated.
    ///   - idempotencyKey: What lets the server know a repetition: with it any method may be repeated. An empty one is none.
    ///   - priority: Who goes first.
    /// - Throws: ``RetryTargetError`` when `host` is neither a name nor an address.
    public init(
        host: String,
        method: RequestMethod,
        idempotencyKey: String? = nil,
        priority: RetryPriority = .normal
    ) throws(RetryTargetError) {
        let hasKey = idempotencyKey.map { !$0.isEmpty } ?? false
        try self.init(host: host, isRepeatable: method.isIdempotent || hasKey, priority: priority)
    }

    /// Any work that needs a host.
    ///
    /// - Parameters:
    ///   - host: A name or an address, without scheme, port or brackets.
    ///   - isRepeatable: Whether doing it twice means the same as once. If not, it is retried only where it was never done.
    ///   - priority: Who goes first.
    /// - Throws: ``RetryTargetError`` when `host` is neither a name nor an address.
    public init(
        host: String,
        isRepeatable: Bool,
        priority: RetryPriority = .normal
    ) throws(RetryTargetError) {
        try RetryTargetError.check(host)
        self.init(checkedHost: host.lowercased(), isRepeatable: isRepeatable, priority: priority)
    }

    /// Any work that needs the network at large.
    public static func network(isRepeatable: Bool, priority: RetryPriority = .normal) -> RetryTarget {
        RetryTarget(checkedHost: nil, isRepeatable: isRepeatable, priority: priority)
    }

    private init(checkedHost host: String?, isRepeatable: Bool, priority: RetryPriority) {
        self.host = host
        self.isRepeatable = isRepeatable
        self.priority = priority
    }
}

extension RetryTarget: CustomStringConvertible {
    /// The host, or `the network at large`.
    public var description: String { host ?? "the network at large" }
}

/// Who goes first when several retries wait for the same host. Among equals, who failed first is retried first.
public struct RetryPriority: RawRepresentable, Comparable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The higher, the sooner.
    public let rawValue: Int

    /// Any number; use few, for each has a line of its own.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Any number.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// Goes when nobody else waits: -1.
    public static let low: RetryPriority = -1
    /// What most work is: 0.
    public static let normal: RetryPriority = 0
    /// Goes before all others: 1.
    public static let high: RetryPriority = 1

    /// Whether one goes after the other.
    public static func < (one: RetryPriority, other: RetryPriority) -> Bool { one.rawValue < other.rawValue }
}
