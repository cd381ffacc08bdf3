/// What came of a `ConnectRequest`.
package struct ConnectOutcome: Sendable {
    /// How it ended.
    package enum End: Sendable {
        /// Open; here it is where it was to be kept.
        case connected(Connection?)
        /// Refused by a packet of TCP (a reset), or a fault without an ICMP error.
        case failed(SystemError)
        /// An ICMP error came: the last of `errors`. With it the kernel's number for it.
        case error(SystemError)
        /// No answer in time, or no answer to the last SYN.
        case silent
        /// The connection could not be begun.
        case notSent(SocketError)
        case cancelled
    }

    package var end: End
    /// ICMP errors, with those that said them.
    package var errors: [ErrorQueueMessage] = []
    package var local: SocketEndpoint?
    /// What the kernel measured, as soon as the connection was open, or at the end of one that did not open: how many segments it
    /// cost. Nil where nothing was sent.
    package var information: TCPInformation?
    /// When it began, by CLOCK_MONOTONIC: not before its turn came. Zero where it did not.
    package var begun = Duration.zero
    /// From then to its end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}

extension ConnectOutcome {
    /// Whether the port is open.
    package var isConnected: Bool {
        if case .connected = end { true } else { false }
    }

    /// Whether a reset answered: nothing listens at that port. A packet filter that pretends to be such sends ICMP.
    package var isRefused: Bool {
        if case .failed(let cause) = end { cause == .connectionRefused } else { false }
    }
}
