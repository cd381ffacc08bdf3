import LinuxSupport

/// The properties of work on which its retries depend: the host, and whether a repetition does harm.
public struct RetryTarget: Hashable, Sendable {
    /// The host, by name or address, in lower case; nil for the network at large. Budgets and the limits of release are per host.
    public let host: String?

    /// Whether the work may be done twice.
    public let isRepeatable: Bool

    /// The order of the work that waits for the same host.
    public let priority: RetryPriority

    /// An HTTP request.
    ///
    /// - Parameters:
    ///   - host: A name or an address, without scheme, port or brackets.
    ///   - method: The method. Idempotent methods may be repeated.
    ///   - idempotencyKey: The key by which the server recognises a repetition. With a key that is not empty any method may be repeated.
    ///   - priority: The order of the work that waits for the same host.
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
    ///   - isRepeatable: Whether the work may be done twice. If not, it is retried only if it was never done.
    ///   - priority: The order of the work that waits for the same host.
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

/// The order of retries that wait for the same host. With equal priority the first that failed is retried first.
public struct RetryPriority: RawRepresentable, Comparable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// Higher values are retried sooner.
    public let rawValue: Int

    /// Any number. Use few different ones, because each has a queue of its own.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Any number.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// After all others: -1.
    public static let low: RetryPriority = -1
    /// The default: 0.
    public static let normal: RetryPriority = 0
    /// Before all others: 1.
    public static let high: RetryPriority = 1

    /// Whether one is retried after the other.
    public static func < (one: RetryPriority, other: RetryPriority) -> Bool { one.rawValue < other.rawValue }
}

/// The error of a target whose host is invalid.
public enum RetryTargetError: Error, Hashable, Sendable {
    /// The text is neither a host name nor an address, for example a URL or an empty text, or it cannot be encoded for the name service (IDNA,
    /// RFC 5891).
    case invalidHost(String)

    /// A link-local IPv6 address needs an interface.
    case zoneRequired(String)

    static func check(_ host: String) throws(RetryTargetError) {
        do throws(HostError) {
            try HostError.check(host)
        } catch {
            switch error {
            case .invalid(let text): throw .invalidHost(text)
            case .zoneRequired(let text): throw .zoneRequired(text)
            }
        }
    }
}

extension RetryTargetError: CustomStringConvertible {
    /// One sentence: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .invalidHost(let text): HostError.invalid(text).description
        case .zoneRequired(let text): HostError.zoneRequired(text).description
        }
    }
}
