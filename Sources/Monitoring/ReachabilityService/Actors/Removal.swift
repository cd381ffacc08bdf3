package import NetworkReachability

/// A change of the network by which a process took something away.
package struct Removal: Hashable, Sendable {
    /// The netlink port it asked from.
    package let port: UInt32
    /// The network namespace it was made in.
    package let namespace: NetworkNamespace
    /// When it was heard of, on CLOCK_MONOTONIC.
    package let noticed: Duration
}
