/// A TCP connection over which something is sent once, and an answer is read. It is closed with a reset, which leaves nothing behind.
package struct StreamRequest: Sendable {
    package var endpoint: SocketEndpoint
    /// The bytes to send when the connection is open.
    package var payload: [UInt8]
    package var settings: SocketSettings
    /// How often the SYN is sent again (TCP_SYNCNT), at least once; nil for the system's own number.
    package var retries: UInt8?
    /// When it ends, counted from the beginning.
    package var limit: Duration
    /// How many bytes are read at most.
    package var byteLimit: Int
    /// True if the bytes that came so far are the whole answer. It is called on the engine's thread, with bytes from a stranger, and must
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
    /// The received bytes.
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
    /// The kernel's last measurements; nil if nothing was sent.
    package var information: TCPInformation?
    /// When it began, by CLOCK_MONOTONIC: not before its turn came. Zero where it did not.
    package var begun = Duration.zero
    /// From then to its end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}

/// One exchange over a TCP connection of its own.
final class StreamFlight: Flight {
    /// How much is read at once, and before others have their turn.
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

    /// Begins the connection, which may be over at once.
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
        // Six packets for a short question and answer, instead of eight.
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
            // Reading the queue of errors would clear the error that waits, so that is first.
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
