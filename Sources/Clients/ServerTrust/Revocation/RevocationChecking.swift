/// Who can tell whether the certificates of a chain have been revoked: ``RevocationChecker``, or one of your own.
public protocol RevocationChecking: Sendable {
    /// What can be told at once and without the network: from the stapled response of `trust` and from caches.
    ///
    /// - Parameters:
    ///   - chain: A chain that is valid otherwise.
    ///   - trust: What it was built from; its time is the time that counts.
    ///   - flags: What may be asked.
    func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus

    /// What can be told with the network, within limits of time and size of its own. Without an own implementation the same as
    /// ``knownStatus(of:in:flags:)``.
    func status(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) async -> RevocationStatus
}

extension RevocationChecking {
    /// Asks nobody.
    public func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        knownStatus(of: chain, in: trust, flags: flags)
    }
}
