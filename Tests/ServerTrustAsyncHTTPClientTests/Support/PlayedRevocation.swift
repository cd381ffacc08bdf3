import ServerTrust

/// Says that the good server is revoked, and nothing of others; only to those who wait.
struct PlayedRevocation: RevocationChecking {
    func knownStatus(of chain: ValidatedChain, in trust: ServerTrust, flags: RevocationFlags) -> RevocationStatus {
        .unknown(chain.leaf, detail: RevocationDoubt([]))
    }

    func status(
        of chain: ValidatedChain,
        in trust: ServerTrust,
        flags: RevocationFlags
    ) async -> RevocationStatus {
        guard chain.leaf == Forge.leaf.certificate else { return knownStatus(of: chain, in: trust, flags: flags) }
        return .revoked(chain.leaf, detail: RevocationRecord(source: .other("the test")))
    }
}
