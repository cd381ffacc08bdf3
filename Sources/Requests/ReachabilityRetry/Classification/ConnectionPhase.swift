/// What a connection was doing when it failed.
public enum ConnectionPhase: Hashable, Sendable {
    /// The host's name was being resolved.
    case resolving
    /// The connection was being made: `connect(2)`, a proxy's, or the TLS handshake.
    case connecting
    /// The request was being sent, or its answer waited for or read.
    case exchanging
}
