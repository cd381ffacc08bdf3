/// A request to open a TCP connection, send bytes once, and read an answer. The connection is closed with a reset,
/// which leaves no state.
package struct StreamRequest: Sendable {
    package var endpoint: SocketEndpoint
    /// The bytes to send when the connection is open.
    package var payload: [UInt8]
    package var settings: SocketSettings
    /// The number of SYN retransmissions (TCP_SYNCNT), at least 1. If nil, the system's default.
    package var retries: UInt8?
    /// The timeout, from the start.
    package var limit: Duration
    /// The maximum number of bytes that are read.
    package var byteLimit: Int
    /// Returns true if the received bytes are the complete answer. It is called on the engine's thread with untrusted
    /// bytes, and must not block.
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

/// The outcome of a `StreamRequest`.
package struct StreamOutcome: Sendable {
    /// The result of the request.
    package enum End: Sendable {
        /// The answer is complete.
        case answered
        /// The peer closed its side of the connection (FIN) before the answer was complete.
        case closed
        /// The maximum number of bytes was read without a complete answer.
        case tooLong
        /// The answer was not complete before the timeout, or no answer arrived after the last SYN.
        case silent
        /// The connection was reset, or failed without an ICMP error.
        case failed(SystemError)
        /// An ICMP error arrived, the last one of `errors`. The value is the kernel's error number for it.
        case error(SystemError)
        /// The connection could not be started.
        case notSent(SocketError)
        case cancelled
    }

    package var end: End
    /// The received bytes.
    package var bytes: [UInt8] = []
    /// The time from the start until the connection was open; nil if it never was.
    package var connected: Duration?
    /// The round-trip time of the handshake, measured by the kernel. Later measurements include delays of the peer.
    package var handshake: Duration?
    /// The time from the start until all bytes were passed to the kernel.
    package var sent: Duration?
    /// The time from the start until the first byte was received.
    package var firstByte: Duration?
    /// The ICMP errors, with the addresses of their senders.
    package var errors: [ErrorQueueMessage] = []
    package var local: SocketEndpoint?
    /// The kernel's last measurements; nil if nothing was sent.
    package var information: TCPInformation?
    /// The start of the request, by CLOCK_MONOTONIC, after the wait for a free socket. Zero if it was not started.
    package var begun = Duration.zero
    /// The time from the start to the end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}

/// A request in progress, on its own TCP connection.
final class StreamFlight: Flight {
    /// The maximum number of bytes that are read at once, before other requests are served.
    private static let portion = 16_384

    private let number: UInt64
    private let request: StreamRequest
    private let socket: NetworkSocket
    private let tell: @Sendable (StreamOutcome) -> Void
    private let begun: Duration
    private var sent = 0
    private var awaited = Readiness.writable
    private var outcome = StreamOutcome(end: .silent)
    private var isOver = false

    /// Starts the connection, which may fail immediately.
    init(
        _ number: UInt64,
        _ request: StreamRequest,
        on socket: consuming NetworkSocket,
        _ loop: EngineLoop,
        _ tell: @escaping @Sendable (StreamOutcome) -> Void
    ) {
        self.number = number
        self.request = request
        self.tell = tell
        begun = loop.now
        // With delayed acknowledgements a short request and answer take six packets instead of eight.
        socket.delayAcknowledgements()
        let failure: SocketError?
        do throws(SocketError) {
            try socket.connect(to: request.endpoint)
            failure = nil
        } catch {
            failure = error
        }
        outcome.local = socket.localEndpoint
        self.socket = socket
        if let failure { fail(failure.cause, loop, otherwise: .notSent(failure)) }
    }

    func advance(_ loop: EngineLoop) -> Duration? {
        guard isOver || loop.now >= begun + request.limit else { return begun + request.limit }
        finish(loop)
        return nil
    }

    func receive(_ readiness: Readiness, _ loop: EngineLoop) {
        if outcome.connected == nil {
            // The pending error is read first, because reading the error queue clears it.
            if let cause = socket.takeError() { return fail(cause, loop, otherwise: .failed(cause)) }
            guard readiness.contains(.writable), !readiness.contains(.hungUp) else { return receiveErrors(loop) }
            outcome.connected = loop.now - begun
            outcome.local = socket.localEndpoint
            outcome.handshake = socket.information?.roundTrip
        }
        do throws(SystemError) {
            try write(loop)
            try read(loop)
            receiveErrors(loop)
        } catch {
            fail(error, loop, otherwise: .failed(error))
        }
    }

    private func write(_ loop: EngineLoop) throws(SystemError) {
        while sent < request.payload.count, case let count = try socket.write(request.payload[sent...]), count > 0 {
            sent += count
            if sent == request.payload.count { outcome.sent = loop.now - begun }
        }
        let wanted: Readiness = sent < request.payload.count ? [.readable, .writable] : .readable
        guard wanted != awaited else { return }
        awaited = wanted
        socket.delayAcknowledgements()
        loop.inbox.poller.change(socket, wanted, token: number)
    }

    private func read(_ loop: EngineLoop) throws(SystemError) {
        let start = outcome.bytes.count
        while outcome.bytes.count - start < Self.portion {
            let room = min(Self.portion, request.byteLimit - outcome.bytes.count)
            guard room > 0 else { return end(.tooLong) }
            guard let bytes = try socket.read(atMost: room) else { return }
            if bytes.isEmpty { return end(.closed) }
            if outcome.firstByte == nil { outcome.firstByte = loop.now - begun }
            outcome.bytes += bytes
            if request.isComplete(outcome.bytes) { return end(.answered) }
        }
    }

    private func end(_ end: StreamOutcome.End) {
        isOver = true
        outcome.end = end
    }

    private func fail(_ cause: SystemError, _ loop: EngineLoop, otherwise end: StreamOutcome.End) {
        receiveErrors(loop)
        if !outcome.errors.isEmpty { return self.end(.error(cause)) }
        switch cause {
        case .timedOut: self.end(.silent)
        case .connectionRefused: self.end(.failed(cause))
        default: self.end(end)
        }
    }

    private func receiveErrors(_ loop: EngineLoop) {
        loop.buffer.receiveErrors(from: socket) { error, _ in
            if error.isICMP, outcome.errors.count < 16 { outcome.errors.append(error) }
        }
    }

    func cancel(_ loop: EngineLoop) {
        outcome.end = .cancelled
        finish(loop)
    }

    private func finish(_ loop: EngineLoop) {
        outcome.begun = begun
        outcome.duration = loop.now - begun
        outcome.information = socket.information
        socket.descriptor.resetWhenClosed()
        loop.finish { [tell, outcome] in tell(outcome) }
    }
}
