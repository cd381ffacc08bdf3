import LinuxSupport

/// The properties of a request that determine its retries: the host, the priority, and whether the request may be
/// repeated.
public struct RetryTarget: Hashable, Sendable {
    /// The host name or address, in lower case; nil for the network at large. Each host has its own budget and limits.
    public let host: String?

    /// A Boolean value that indicates whether the request may be executed twice.
    public let isRepeatable: Bool

    /// The order of the requests that wait for the same host.
    public let priority: RetryPriority

    /// Creates the target of an HTTP request.
    ///
    /// - Parameters:
    ///   - host: A host name or an address, without scheme, port or brackets.
    ///   - method: The method. Idempotent methods may be repeated.
    ///   - idempotencyKey: The key by which the server recognises a repeated request. With a key that is not empty, any
    ///     method may be repeated.
    ///   - priority: The order of the requests that wait for the same host.
    /// - Throws: ``RetryTargetError`` if `host` is neither a name nor an address.
    public init(
        host: String,
        method: RequestMethod,
        idempotencyKey: String? = nil,
        priority: RetryPriority = .normal
    ) throws(RetryTargetError) {
        let hasKey = idempotencyKey.map { !$0.isEmpty } ?? false
        try self.init(host: host, isRepeatable: method.isIdempotent || hasKey, priority: priority)
    }

    /// Creates the target of any work that needs a host.
    ///
    /// - Parameters:
    ///   - host: A host name or an address, without scheme, port or brackets.
    ///   - isRepeatable: True if the work may be executed twice. If not, it is retried only if it was never executed.
    ///   - priority: The order of the requests that wait for the same host.
    /// - Throws: ``RetryTargetError`` if `host` is neither a name nor an address.
    public init(
        host: String,
        isRepeatable: Bool,
        priority: RetryPriority = .normal
    ) throws(RetryTargetError) {
        try RetryTargetError.check(host)
        self.init(checkedHost: host.lowercased(), isRepeatable: isRepeatable, priority: priority)
    }

    /// Returns the target of any work that needs the network at large: the internet, but no particular host.
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

/// The order of retries that wait for the same host. Among equal priorities, the request that failed first is retried
/// first.
public struct RetryPriority: RawRepresentable, Comparable, Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number. Higher values are retried sooner.
    public let rawValue: Int

    /// Creates a priority from any number. Use few different numbers, because each has its own queue.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Creates a priority from any number.
    public init(integerLiteral value: Int) {
        self.init(rawValue: value)
    }

    /// -1: after all other priorities.
    public static let low: RetryPriority = -1
    /// 0: the default.
    public static let normal: RetryPriority = 0
    /// 1: before the other named priorities.
    public static let high: RetryPriority = 1

    /// Returns whether one priority is retried after the other.
    public static func < (one: RetryPriority, other: RetryPriority) -> Bool { one.rawValue < other.rawValue }
}

/// The error of an invalid target host.
public enum RetryTargetError: Error, Hashable, Sendable {
    /// The text is neither a host name nor an address, for example because it is a URL or empty. Or it cannot be
    /// encoded for the name service (IDNA, RFC 5891).
    case invalidHost(String)

    /// A link-local IPv6 address has no interface.
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
    /// One sentence with the error and a remedy.
    public var description: String {
        switch self {
        case .invalidHost(let text): HostError.invalid(text).description
        case .zoneRequired(let text): HostError.zoneRequired(text).description
        }
    }
}
