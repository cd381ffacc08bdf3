import Glibc

extension FailureStage {
    /// What an error number (`errno(3)`, `connect(2)`, `tcp(7)`) says of a request.
    ///
    /// | Error | Resolving, connecting | Exchanging |
    /// |---|---|---|
    /// | ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET | never sent | may have been processed |
    /// | ECONNREFUSED, ETIMEDOUT, ECONNRESET, ECONNABORTED, ENETRESET, EPIPE, ENOTCONN, EPROTO | never sent | may have been processed |
    /// | EADDRNOTAVAIL (no source address), EACCES, EPERM (a rule forbids), EINVAL (a blackhole) | never sent | not retried |
    /// | ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR | never sent | may have been processed |
    /// | all others | not retried | not retried |
    ///
    /// Nil stands for "not retried". A connection in use can be told that it is refused, too, by what answers for a server that has gone
    /// (`udp(7)`): by then the request has left.
    public init?(errorNumber: Int32, during phase: ConnectionPhase) {
        if phase == .exchanging {
            guard Self.lost.contains(errorNumber) else { return nil }
            self = .mayHaveBeenProcessed
        } else {
            guard Self.lost.contains(errorNumber) || Self.unrouted.contains(errorNumber) else { return nil }
            self = .neverSent
        }
    }

    /// The connection is lost, or cannot go on for now.
    private static let lost: Set<Int32> = [
        ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENONET, ECONNREFUSED, ETIMEDOUT, ECONNRESET, ECONNABORTED,
        ENETRESET, EPIPE, ENOTCONN, EPROTO, ENOBUFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR,
    ]

    /// What `connect(2)` says where a route, a rule or a missing address stands in the way.
    private static let unrouted: Set<Int32> = [EADDRNOTAVAIL, EACCES, EPERM, EINVAL]
}
