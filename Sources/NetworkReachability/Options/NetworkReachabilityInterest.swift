/// What a listener counts as a change.
public enum NetworkReachabilityInterest: Hashable, Sendable {
    /// The status, ``NetworkPath/status``.
    case status

    /// The flags, ``NetworkPath/flags``, which include the status.
    case flags

    /// The way: status, interface, gateway and source.
    case way

    /// Anything of the path: flags, reason, interface, gateway, source and the rest.
    case path
}
