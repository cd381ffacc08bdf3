package import Dispatch
package import Netlink

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

    /// Runs `changed` on `queue` whenever the name service's configuration changes; nil where that cannot be told.
    func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation?
}
