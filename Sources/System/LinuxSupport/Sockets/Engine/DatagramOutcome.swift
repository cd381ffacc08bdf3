/// What came of a `DatagramRequest`.
package struct DatagramOutcome: Sendable {
    /// How it ended.
    package enum End: Hashable, Sendable {
        /// An answer that was accepted came.
        case answered
        /// An ICMP error came: the last of `errors`.
        case error
        /// Nothing came in time.
        case silent
        /// Each try was left out.
        case withheld
        /// Nothing could be sent.
        case notSent(SocketError)
        case cancelled
    }

    /// A datagram that came back.
    package struct Answer: Hashable, Sendable {
        package let sender: SocketEndpoint
        /// Of an echo, what follows the ICMP header.
        package let payload: [UInt8]
        /// It was longer than that.
        package let isTruncated: Bool
        /// The hop limit it arrived with.
        package let hopLimit: UInt8?
        package let isAccepted: Bool
        package let timing: ReplyTiming
    }

    /// A message of the queue of errors.
    package struct Report: Hashable, Sendable {
        package let message: ErrorQueueMessage
        package let timing: ReplyTiming
    }

    package var end: End
    package var answers: [Answer] = []
    package var errors: [Report] = []
    /// How many datagrams left the socket.
    package var sent = 0
    /// The tries that failed, also after others that did not: the route or the interface went.
    package var failures: [SocketError] = []
    /// Where it was sent from.
    package var local: SocketEndpoint?
    /// When it began, by CLOCK_MONOTONIC: not before its turn came. Zero where it did not.
    package var begun = Duration.zero
    /// From then to its end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}

/// How long a reply took.
package struct ReplyTiming: Hashable, Sendable {
    /// From the last sending before it to when the engine saw it: with what the machine was busy with meanwhile.
    package let elapsed: Duration
    /// Between the times the kernel recorded for both packets; nil where it did not, or where it is not known which datagram was replied to.
    package let roundTrip: Duration?
}
