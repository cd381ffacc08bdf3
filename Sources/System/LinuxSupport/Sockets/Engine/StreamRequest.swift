/// A TCP connection over which something is sent once, and an answer is read. It is closed with a reset, which leaves nothing behind.
package struct StreamRequest: Sendable {
    package var endpoint: SocketEndpoint
    /// What is sent as soon as the connection is open.
    package var payload: [UInt8]
    package var settings: SocketSettings
    /// How often the SYN is sent again (TCP_SYNCNT), at least once; nil for the system's own number.
    package var retries: UInt8?
    /// When it ends, counted from the beginning.
    package var limit: Duration
    /// How many bytes are read at most.
    package var byteLimit: Int
    /// Whether the bytes that came so far are the whole answer. It is called on the engine's thread, with bytes from a stranger, and must
    /// not wait.
    package var isComplete: @Sendable ([UInt8]) -> Bool

    package init(
        to endpoint: SocketEndpoint,
        _ payload: [UInt8],
        settings: SocketSettings = .init(),
        retries: UInt8? = 2,
        limit: Duration,
        byteLimit: Int = 65_537,
        isComplete: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.endpoint = endpoint
        self.payload = payload
        self.settings = settings
        self.retries = retries
        self.limit = limit
        self.byteLimit = byteLimit
        self.isComplete = isComplete
    }
}

/// What came of a `StreamRequest`.
package struct StreamOutcome: Sendable {
    /// How it ended.
    package enum End: Sendable {
        /// The answer is complete.
        case answered
        /// The peer said that no more comes (a FIN), too early.
        case closed
        /// As much came as was to be read, and it is no whole answer.
        case tooLong
        /// It was not complete in time, or nothing answered the last SYN.
        case silent
        /// A reset, or a fault without an ICMP error.
        case failed(SystemError)
        /// An ICMP error came: the last of `errors`. With it the kernel's number for it.
        case error(SystemError)
        /// The connection could not be begun.
        case notSent(SocketError)
        case cancelled
    }

    package var end: End
    /// What was read, as far as it came.
    package var bytes: [UInt8] = []
    /// When the connection was open, counted from the beginning; nil where it never was.
    package var connected: Duration?
    /// The round trip of the handshake, as the kernel measured it; later ones have the peer's pauses in them.
    package var handshake: Duration?
    /// When all was handed to the kernel, counted from the beginning.
    package var sent: Duration?
    /// When the first byte was there, counted from the beginning.
    package var firstByte: Duration?
    /// ICMP errors, with those that said them.
    package var errors: [ErrorQueueMessage] = []
    package var local: SocketEndpoint?
    /// What the kernel measured until the end; nil where nothing was sent.
    package var information: TCPInformation?
    /// When it began, by CLOCK_MONOTONIC: not before its turn came. Zero where it did not.
    package var begun = Duration.zero
    /// From then to its end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}
