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
