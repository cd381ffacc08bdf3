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
