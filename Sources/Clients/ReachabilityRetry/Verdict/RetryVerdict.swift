/// The reachability of a target at one moment.
public struct RetryVerdict: Hashable, Sendable {
    /// Whether a target can be reached.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// Nothing is known.
        case unknown
        /// Packets would not get through.
        case notReachable
        /// Packets would get through.
        case reachable
    }

    /// Whether packets would get through.
    public var status: Status

    /// The reason why not, or why nothing is known.
    public var reason: Reason?

    /// The number of the path, which grows with each change; 0 if nothing is known.
    public var generation: UInt64

    /// The source address of packets; nil if it is not known.
    public var source: String?

    /// Nothing is known yet.
    public static let unknown = RetryVerdict(status: .unknown)

    /// Whether no attempt can succeed until the network changes. That does not follow from a name that is not resolved: it may not exist, and
    /// then no network would end the wait.
    var isOffline: Bool { status == .notReachable && !lacksAddress }

    /// Whether the name is not resolved.
    package var lacksAddress: Bool { reason == .nameNotResolved }

    /// A verdict.
    public init(status: Status, reason: Reason? = nil, generation: UInt64 = 0, source: String? = nil) {
        self.status = status
        self.reason = reason
        self.generation = generation
        self.source = source
    }
}

extension RetryVerdict: CustomStringConvertible {
    /// For example `not reachable, no carrier`.
    public var description: String { reason.map { "\(status), \($0)" } ?? status.description }
}

extension RetryVerdict.Status: CustomStringConvertible {
    /// A short text for logs and terminals.
    public var description: String { self == .notReachable ? "not reachable" : rawValue }
}

extension RetryVerdict {
    /// Why a target is not reachable, or why nothing is known of it. Reasons with the same name are equal.
    public struct Reason: RawRepresentable, Sendable {
        /// The name, as JSON output has it: `noCarrier`, for example.
        public let rawValue: String

        private let words: String

        /// A reason whose text is its name.
        public init(rawValue: String) {
            self.init(rawValue: rawValue, words: rawValue)
        }

        /// A reason with a text.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - words: The text for people, for example `no carrier`.
        public init(rawValue: String, words: String) {
            self.rawValue = rawValue
            self.words = words
        }

        /// The name service does not know the name, or could not be queried. It is the only reason that changes how retries wait.
        public static let nameNotResolved = Reason(rawValue: "nameNotResolved", words: "name not resolved")

        /// The name service has not answered yet.
        package static let resolving = Reason(rawValue: "resolving")
    }
}

extension RetryVerdict.Reason: Hashable, CustomStringConvertible {
    /// Whether they have the same name.
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }

    /// A few words for people, for example `no carrier`.
    public var description: String { words }
}

/// The source of verdicts: ``MonitoredVerdicts``, or one of a test.
public protocol VerdictSource: Sendable {
    /// Begins to follow a host. Called once for each host that retries wait for.
    ///
    /// - Parameters:
    ///   - host: A name or an address in lower case; nil for the network at large.
    ///   - listener: Receives the current verdict soon, then each change, in order, on any thread, until the watch is released. It never
    ///     blocks.
    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch

    /// Returns the verdict at this moment, without following the host: before the first attempt of a request. It must not block, and must not
    /// query a name service; it returns unknown instead. By default it is the verdict of a watch that is released at once.
    func ask(_ host: String?) -> RetryVerdict

    /// Whether this machine has an address now. It must not block. True by default.
    func isLocal(_ address: String) -> Bool

    /// Addresses that no host has, one for each family in which the network at large has a path: a host that answers there intercepts. It
    /// must not block. Unless implemented, there are none.
    func unassignedAddresses() -> [String]
}

extension VerdictSource {
    /// True.
    public func isLocal(_ address: String) -> Bool { true }

    /// None.
    public func unassignedAddresses() -> [String] { [] }

    /// The verdict of a watch that is released at once.
    public func ask(_ host: String?) -> RetryVerdict { watch(host) { _ in }.ask() }
}

/// A host that is followed until the watch is released. Thread-safe.
public protocol VerdictWatch: AnyObject, Sendable {
    /// Returns the verdict at this moment. If it differs from the last one that the listener received, the listener receives it.
    func ask() -> RetryVerdict
}

/// A source without a monitor: every verdict is unknown, and only an attempt shows whether a host is reachable.
public struct NoVerdicts: VerdictSource {
    /// A source without a monitor.
    public init() {}

    /// Reports unknown once.
    public func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        listener(.unknown)
        return Watch()
    }

    private final class Watch: VerdictWatch {
        func ask() -> RetryVerdict { .unknown }
    }
}

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
