/// What a listener counts as a change.
public enum NetworkReachabilityInterest: Hashable, Sendable {
    /// The status, ``NetworkPath/status``.
    case status

    /// The flags, ``NetworkPath/flags``, which include the status.
    case flags

    /// The status, and which way packets go: interface, gateway and source. Not the reason.
    case way

    /// Anything of the path: flags, reason, interface, gateway, source and the rest.
    case path
}
