package import Dispatch
package import LinuxSupport

/// The seam to the name service.
package protocol HostResolver: Sendable {
    /// What this machine knows of a name without asking anybody: the hosts file, and `localhost` (RFC 6761). Empty when
    /// it knows nothing. Never waits for the network.
    func localAddresses(of name: String) -> [NameLookup.Address]

    /// Asks the name service and calls `completion` once, on a thread of the resolver's own.
    func resolve(
        _ name: String,
        _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
    )

    /// Where names are looked up now; nil where that is not known.
    var configuration: ResolverConfiguration? { get }

    /// What each of these servers answers to a question for `name` within the limit; nil where nobody can be asked. Blocks.
    func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuestion.Answer]?

    /// Runs `changed` on `queue` whenever the name service's configuration changes; nil where that cannot be known.
    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}

extension HostResolver {
    package var configuration: ResolverConfiguration? { nil }

    package func answers(
        of servers: [IPAddress],
        to name: String,
        within limit: Duration
    ) -> [NameServerQuestion.Answer]? { nil }
}
