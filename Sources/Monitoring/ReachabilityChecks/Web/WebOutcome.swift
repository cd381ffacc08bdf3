/// How far one request came over a connection, and what came back.
struct WebOutcome: Sendable {
    enum End: Sendable {
        /// The whole answer, or as much of it as is read.
        case answered
        /// By the peer.
        case closed
        case tooLarge
        case timedOut
        case cancelled
        /// What TLS, or the parser of HTTP, says.
        case failed(any Error)
    }

    var end = End.closed
    /// In which it ended.
    var phase = ProbePhase.request
    /// Those that ended.
    var phases: [ProbePhase: Duration] = [:]
    /// What the server has shown; nil if it has shown nothing.
    var tls: TLSFacts?
    var answer: WebAnswer?
    /// As far as it was asked for.
    var body: [UInt8] = []
}

/// The head of an answer.
struct WebAnswer: Hashable, Sendable {
    var status: Int
    var location: String?
    /// `Reachability-Response`.
    var response: String?
    /// How far the server's clock is ahead of ours.
    var clockOffset: Duration?
    /// How long it wants not to be asked again.
    var retryAfter: Duration?
}
