/// A TCP connection that is to be tried once.
package struct ConnectRequest: Sendable {
    /// What becomes of a connection that is made.
    package enum Afterwards: Hashable, Sendable {
        /// It is handed over.
        case keep
        /// It is closed as usual, which leaves a TIME-WAIT behind.
        case close
        /// It is closed with a reset, which leaves nothing behind.
        case reset
    }

    package var endpoint: SocketEndpoint
    package var settings: SocketSettings
    /// How often the SYN is sent again (TCP_SYNCNT), at least once; nil for the system's own number.
    package var retries: UInt8?
    /// When it ends, counted from the beginning.
    package var limit: Duration
    package var afterwards: Afterwards

    package init(
        to endpoint: SocketEndpoint,
        settings: SocketSettings = .init(),
        retries: UInt8? = 2,
        limit: Duration,
        afterwards: Afterwards = .reset
    ) {
        self.endpoint = endpoint
        self.settings = settings
        self.retries = retries
        self.limit = limit
        self.afterwards = afterwards
    }
}
