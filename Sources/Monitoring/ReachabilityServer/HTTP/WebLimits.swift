import LinuxSupport

/// What a client may have of the server.
package struct WebLimits: Sendable {
    /// So many connections at a time; more are told to come later.
    package var connections = 1_200
    /// All header fields of a request together, in bytes; one of them has half.
    package var headerSize = 16 << 10
    package var headerCount = 64
    /// The body of a request, in bytes.
    package var bodySize = 64 << 10
    /// From the connection, or the first bytes of a further request, to the end of the head, and from there to the end of the body.
    package var requestTime = Duration.seconds(10)
    /// From the end of an answer to the first bytes of the next request.
    package var idleTime = Duration.seconds(60)
    /// For all of an answer to be taken.
    package var answerTime = Duration.seconds(30)
    /// So many answers that go on, or are waited for, at a time; more are told to come later. Some connections are left for others in any
    /// case.
    package var streams = 1_024
    /// How many bytes of such an answer are kept for a client that does not take them: the events of 1,000 targets that fall at once. Clients
    /// share the memory of their events.
    package var streamBytes = 8 << 20

    package init() {}

    /// The limit of streams that leaves connections for others.
    var effectiveStreams: Int { min(streams, connections - connections / 8) }
}

/// How the server is used, since it began.
package struct WebStatistics: Sendable {
    /// Connections now.
    package var connections = 0
    /// Connections that were told to come later.
    package var refused: UInt64 = 0
    /// Answers, by the hundreds of their status: 2 for 200 and 204.
    package var answers: [Int: UInt64] = [:]
    /// Connections that were ended because a time was up.
    package var expired: UInt64 = 0
    /// Answers that go on now, or are waited for.
    package var streams = 0
    /// Such answers that were ended because the client did not take them.
    package var slowStreams: UInt64 = 0

    package init() {}
}
