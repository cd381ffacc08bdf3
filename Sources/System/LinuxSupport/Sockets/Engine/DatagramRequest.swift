/// Something that is sent to one address, again and again until an answer or an error comes, or the time is over.
package struct DatagramRequest: Sendable {
    /// What is sent.
    package enum Content: Sendable {
        /// A UDP datagram.
        case payload([UInt8])
        /// An ICMP echo with so many bytes of payload, at least 8 and at most `MessageBuffer.payloadSize` less 8.
        case echo(size: Int)
    }

    package var endpoint: SocketEndpoint
    package var content: Content
    package var settings: SocketSettings
    /// When it is sent, counted from the beginning, in ascending order.
    package var tries: [Duration]
    /// When it ends, counted from the beginning.
    package var limit: Duration
    /// Whether an ICMP error ends it; otherwise an answer may still come.
    package var endsAtError: Bool
    /// Whether a UDP answer is the one waited for: others are recorded, and waiting goes on. It is called on the engine's thread, with bytes
    /// from a stranger, and must not wait.
    package var accepts: @Sendable ([UInt8]) -> Bool
    /// Whether it may be sent now; a try that may not is left out. It is called on the engine's thread at each try, and must not wait.
    package var maySend: @Sendable () -> Bool

    package init(
        to endpoint: SocketEndpoint,
        _ content: Content,
        settings: SocketSettings = .init(),
        tries: [Duration] = [.zero],
        limit: Duration,
        endsAtError: Bool = true,
        accepts: @escaping @Sendable ([UInt8]) -> Bool = { _ in true },
        maySend: @escaping @Sendable () -> Bool = { true }
    ) {
        self.endpoint = endpoint
        self.content = content
        self.settings = settings
        self.tries = tries.isEmpty ? [.zero] : tries
        self.limit = limit
        self.endsAtError = endsAtError
        self.accepts = accepts
        self.maySend = maySend
    }
}
