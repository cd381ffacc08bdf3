/// A request to open a TCP connection. An exchange then sends bytes once and reads an answer.
package struct StreamRequest: Sendable {
    /// The action after the connection is open.
    package enum FinalAction: Hashable, Sendable {
        /// The connection is returned to the caller.
        case keep
        /// The connection is closed with a reset, which leaves no state.
        case reset
    }

    package var endpoint: SocketEndpoint
    package var settings: SocketSettings
    /// The number of SYN retransmissions (TCP_SYNCNT), at least 1. If nil, the system's default.
    package var retries: UInt8?
    /// The timeout, from the start.
    package var limit: Duration
    /// The action after the connection is open; nil for an exchange, which ends with a reset.
    package var finalAction: FinalAction?
    /// The bytes to send when the connection is open.
    package var payload: [UInt8] = []
    /// The maximum number of bytes that are read.
    package var byteLimit = 65_537
    /// Returns true if the received bytes are the complete answer. It is called on the engine's thread with untrusted
    /// bytes, and must not block.
    package var isComplete: @Sendable ([UInt8]) -> Bool = { _ in true }

    /// Creates a request that only opens a connection.
    package init(
        to endpoint: SocketEndpoint,
        settings: SocketSettings = .init(),
        retries: UInt8? = 2,
        limit: Duration,
        finalAction: FinalAction = .reset
    ) {
        (self.endpoint, self.settings, self.retries) = (endpoint, settings, retries)
        (self.limit, self.finalAction) = (limit, finalAction)
    }

    /// Creates an exchange.
    package init(
        to endpoint: SocketEndpoint,
        _ payload: [UInt8],
        settings: SocketSettings = .init(),
        limit: Duration,
        isComplete: @escaping @Sendable ([UInt8]) -> Bool
    ) {
        self.init(to: endpoint, settings: settings, limit: limit)
        (finalAction, self.payload, self.isComplete) = (nil, payload, isComplete)
    }

    /// True if data follows the handshake immediately, so that one packet can acknowledge both.
    var sendsFirst: Bool { finalAction == nil || finalAction == .keep }
}

/// The outcome of a `StreamRequest`.
package struct StreamOutcome: Sendable {
    /// The result of the request.
    package enum End: Hashable, Sendable {
        /// The answer is complete. Without an exchange, the connection is open.
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
    /// The kernel's measurements at the end of an exchange, when the connection was opened, or at the end of an attempt
    /// that failed. They include the number of segments sent. Nil if nothing was sent.
    package var information: TCPInformation?
    /// The start of the request, by CLOCK_MONOTONIC, after the wait for a free socket. Zero if it was not started.
    package var begun = Duration.zero
    /// The time from the start to the end.
    package var duration = Duration.zero
    /// The open connection, if the request keeps it.
    package var connection: Connection?
}

extension StreamOutcome {
    /// True if the port is open.
    package var isConnected: Bool { connected != nil }

    /// True if the answer was a reset. No process listens on the port. Packet filters that reject connections mostly
    /// send ICMP errors.
    package var isRefused: Bool { end == .failed(.connectionRefused) }
}

/// A request in progress, on its own TCP connection.
final class StreamOperation: SocketOperation {
    /// The maximum number of bytes that are read at once, before other requests are served.
    private static let portion = 16_384

    private let number: UInt64
    private let request: StreamRequest
    /// The socket; nil after it was passed to the caller.
    private var socket: NetworkSocket?
    private let completion: @Sendable (StreamOutcome) -> Void
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
        _ completion: @escaping @Sendable (StreamOutcome) -> Void
    ) {
        self.number = number
        self.request = request
        self.completion = completion
        begun = loop.now
        let failure: SocketError?
        do throws(SocketError) {
            try socket.connect(to: request.endpoint)
            failure = nil
        } catch {
            failure = error
        }
        outcome.local = socket.localEndpoint
        self.socket = consume socket
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
            if let cause = socket?.takeError() { return fail(cause, loop, otherwise: .failed(cause)) }
            guard readiness.contains(.writable), !readiness.contains(.hungUp) else { return receiveErrors(loop) }
            outcome.connected = loop.now - begun
            outcome.local = socket?.localEndpoint
            outcome.information = socket?.information
            outcome.handshake = outcome.information?.roundTrip
            if request.finalAction != nil { return keepConnection(loop) }
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
        while sent < request.payload.count, let count = try socket?.write(request.payload[sent...]), count > 0 {
            sent += count
            if sent == request.payload.count { outcome.sent = loop.now - begun }
        }
        let wanted: Readiness = sent < request.payload.count ? [.readable, .writable] : .readable
        guard wanted != awaited else { return }
        awaited = wanted
        switch socket {
        case .some(let socket):
            socket.delayAcknowledgements()
            loop.inbox.poller.change(socket, wanted, token: number)
        case .none: break
        }
    }

    private func read(_ loop: EngineLoop) throws(SystemError) {
        let start = outcome.bytes.count
        while outcome.bytes.count - start < Self.portion {
            let room = min(Self.portion, request.byteLimit - outcome.bytes.count)
            guard room > 0 else { return end(.tooLong) }
            guard let bytes = try socket?.read(atMost: room) else { return }
            if bytes.isEmpty { return end(.closed) }
            if outcome.firstByte == nil { outcome.firstByte = loop.now - begun }
            outcome.bytes += bytes
            if request.isComplete(outcome.bytes) { return end(.answered) }
        }
    }

    /// Ends a request that only opens the connection, and passes the socket to the caller if the request keeps it.
    private func keepConnection(_ loop: EngineLoop) {
        end(.answered)
        guard request.finalAction == .keep, let socket = socket.take() else { return }
        loop.inbox.poller.remove(socket)
        outcome.connection = Connection(socket.release())
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
        case .connectionRefused, .connectionReset: self.end(.failed(cause))
        default: self.end(end)
        }
    }

    private func receiveErrors(_ loop: EngineLoop) {
        switch socket {
        case .some(let socket):
            loop.buffer.receiveErrors(from: socket) { error, _ in
                if error.isICMP, outcome.errors.count < 16 { outcome.errors.append(error) }
            }
        case .none: break
        }
    }

    func cancel(_ loop: EngineLoop) {
        outcome.end = .cancelled
        finish(loop)
    }

    private func finish(_ loop: EngineLoop) {
        outcome.begun = begun
        outcome.duration = loop.now - begun
        if request.finalAction == nil || outcome.information == nil { outcome.information = socket?.information }
        switch socket {
        case .some(let socket):
            socket.descriptor.resetWhenClosed()
            loop.inbox.poller.remove(socket)
        case .none: break
        }
        loop.finish { [completion, outcome] in completion(outcome) }
    }
}
