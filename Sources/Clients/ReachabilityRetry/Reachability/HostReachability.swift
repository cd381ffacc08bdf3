/// The reachability of a host at one moment, as the monitor reports it.
public struct HostReachability: Hashable, Sendable {
    /// A Boolean value that indicates whether a host can be reached.
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// The reachability is unknown.
        case unknown
        /// There is no usable path to the host.
        case notReachable
        /// There is a usable path to the host. It does not prove that the host responds.
        case reachable
    }

    /// A Boolean value that indicates whether the host can be reached.
    public var status: Status

    /// The reason why the host is not reachable, or why its reachability is unknown. Nil if no reason is known.
    public var reason: Reason?

    /// The generation of the path, which increases with each change; 0 if nothing is known.
    public var generation: UInt64

    /// The source address of packets to the host; nil if it is not known.
    public var source: String?

    /// The reachability before anything is known.
    public static let unknown = HostReachability(status: .unknown)

    /// A Boolean value that indicates whether no attempt can succeed until the network changes. An unresolved name is
    /// not such a case, because the name may not exist. Then no change of the network would end the wait.
    var isOffline: Bool { status == .notReachable && !lacksAddress }

    /// A Boolean value that indicates whether the host name is not resolved.
    package var lacksAddress: Bool { reason == .nameNotResolved }

    /// Creates a state.
    public init(status: Status, reason: Reason? = nil, generation: UInt64 = 0, source: String? = nil) {
        self.status = status
        self.reason = reason
        self.generation = generation
        self.source = source
    }
}

extension HostReachability: CustomStringConvertible {
    /// The status and the reason, for example `not reachable, no carrier`.
    public var description: String { reason.map { "\(status), \($0)" } ?? status.description }
}

extension HostReachability.Status: CustomStringConvertible {
    /// The status as a short text for logs and terminals.
    public var description: String { self == .notReachable ? "not reachable" : rawValue }
}

extension HostReachability {
    /// The reason why a host is not reachable, or why its reachability is unknown. Reasons with the same name are
    /// equal.
    public struct Reason: RawRepresentable, Sendable {
        /// The name, as used in JSON output, for example `noCarrier`.
        public let rawValue: String

        private let words: String

        /// Creates a reason whose text is its name.
        public init(rawValue: String) {
            self.init(rawValue: rawValue, words: rawValue)
        }

        /// Creates a reason with a text.
        ///
        /// - Parameters:
        ///   - rawValue: The name.
        ///   - words: The text for people, for example `no carrier`.
        public init(rawValue: String, words: String) {
            self.rawValue = rawValue
            self.words = words
        }

        /// The name service does not know the host name, or could not be queried. This is the only reason that changes
        /// how retries wait.
        public static let nameNotResolved = Reason(rawValue: "nameNotResolved", words: "name not resolved")

        /// The name service has not responded yet.
        package static let resolving = Reason(rawValue: "resolving")
    }
}

extension HostReachability.Reason: Hashable, CustomStringConvertible {
    /// Compares the names.
    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rawValue)
    }

    /// The text for people, for example `no carrier`.
    public var description: String { words }
}

/// A provider of the reachability of hosts: ``NetlinkReachabilityProvider``, ``UnmonitoredReachability``, or a custom one.
public protocol ReachabilityProvider: Sendable {
    /// Starts following a host. Called once for each host that retries wait for. The watch lasts until it is
    /// deallocated.
    ///
    /// - Parameters:
    ///   - host: A host name or an address in lower case; nil for the network at large.
    ///   - listener: Receives the current reachability soon after the call, and then each later change. The calls come one
    ///     after the other, on any thread. It never blocks.
    func watch(_ host: String?, _ listener: @escaping @Sendable (HostReachability) -> Void) -> any ReachabilityWatch

    /// Returns the current reachability without following the host. Called before the first attempt of a request. It must
    /// not block or query a name server. If the reachability would require that, it returns unknown. The default
    /// implementation queries a temporary watch.
    func reachability(of host: String?) -> HostReachability

    /// Returns whether this machine currently has an address. It must not block. The default implementation returns
    /// true.
    func isLocal(_ address: String) -> Bool

    /// Returns addresses that are assigned to no host, one for each address family in which the network at large has a
    /// path. A response from such an address shows that traffic is intercepted. It must not block. The default
    /// implementation returns none.
    func unassignedAddresses() -> [String]
}

extension ReachabilityProvider {
    /// Returns true.
    public func isLocal(_ address: String) -> Bool { true }

    /// Returns no addresses.
    public func unassignedAddresses() -> [String] { [] }

    /// Returns the reachability that a temporary watch reports.
    public func reachability(of host: String?) -> HostReachability { watch(host) { _ in }.currentReachability() }
}

/// A subscription to the reachability of a host. It ends when the object is deallocated. Thread-safe.
public protocol ReachabilityWatch: AnyObject, Sendable {
    /// Returns the current reachability. If it differs from the last one that the listener received, the listener receives
    /// it too.
    func currentReachability() -> HostReachability
}

/// A provider without a monitor. The reachability of each host is unknown, so only an attempt shows whether a host is reachable.
public struct UnmonitoredReachability: ReachabilityProvider {
    /// Creates a source without a monitor.
    public init() {}

    /// Calls the listener once with an unknown reachability.
    public func watch(
        _ host: String?,
        _ listener: @escaping @Sendable (HostReachability) -> Void
    ) -> any ReachabilityWatch {
        listener(.unknown)
        return Watch()
    }

    private final class Watch: ReachabilityWatch {
        func currentReachability() -> HostReachability { .unknown }
    }
}

/// A source of advice from active probes, for faults that the kernel cannot detect. `CheckAdvisor` of the product
/// `ReachabilityChecks` is one.
///
/// The advisor is called after an attempt has failed in the network while the monitor does not report "not reachable",
/// and before the wait for the next attempt. Advice does not shorten a wait and does not change a limit.
public protocol RetryAdvisor: Sendable {
    /// Returns the advice after a failure. It may take a few seconds, which count as waiting time. If the task is
    /// cancelled, it must return soon, with any advice. Concurrent requests may call it at the same time.
    ///
    /// - Parameter host: A host name or an address in lower case; nil for the network at large.
    func advice(for host: String?) async -> RetryAdvice

    /// Returns when the obstacle behind ``RetryAdvice/wait`` is over, or the task is cancelled.
    func waitForEnd(of host: String?) async
}

/// The advice for a retry.
public enum RetryAdvice: String, Hashable, Sendable, CaseIterable {
    /// Follow the tables of ``RetryPolicy``.
    case followPolicy
    /// Wait for the backoff, even after a change of the path, because the host is the cause.
    case backOff
    /// Wait until an obstacle is over, for example a captive portal. The budget is not charged.
    case wait
    /// Do not retry, because the request would fail in the same way.
    case end
}
