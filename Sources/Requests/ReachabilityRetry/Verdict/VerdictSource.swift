/// Where verdicts come from: ``MonitoredVerdicts``, or what a test plays.
public protocol VerdictSource: Sendable {
    /// Begins to follow a host; of each host that retries wait for this is called once.
    ///
    /// - Parameters:
    ///   - host: A name or an address in lower case; nil for the network at large.
    ///   - listener: To be called with what is so now, soon, and with each change, in order, on any thread, until the watch
    ///     is let go. It never blocks.
    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch

    /// Asks what is so at this moment, without following the host: before the first attempt of a request. It must not block, and asks
    /// no name service: unknown where it would have to. Unless implemented, it is what a watch says that is let go of at once.
    func ask(_ host: String?) -> RetryVerdict

    /// Whether this machine has an address now. It must not block. Unless implemented, it has.
    func isLocal(_ address: String) -> Bool

    /// Addresses that no host has, one for each family in which the network at large has a path: a host that answers there intercepts. It
    /// must not block. Unless implemented, there are none.
    func unassignedAddresses() -> [String]
}

extension VerdictSource {
    /// Not known to be gone.
    public func isLocal(_ address: String) -> Bool { true }

    /// None.
    public func unassignedAddresses() -> [String] { [] }

    /// What a watch says that is let go of at once.
    public func ask(_ host: String?) -> RetryVerdict { watch(host) { _ in }.ask() }
}

/// One host that is followed, until it is let go. Thread-safe.
public protocol VerdictWatch: AnyObject, Sendable {
    /// Asks what is so at this moment. If that is not what the listener was told last, the listener will be told.
    func ask() -> RetryVerdict
}

/// Nobody says what is reachable: every verdict is unknown, so that only an attempt tells.
public struct NoVerdicts: VerdictSource {
    /// Knows of no network.
    public init() {}

    /// Says once that nothing is known.
    public func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        listener(.unknown)
        return Watch()
    }

    private final class Watch: VerdictWatch {
        func ask() -> RetryVerdict { .unknown }
    }
}
