/// One TCP connection in the making.
final class ConnectFlight: Flight {
    private var socket: NetworkSocket?
    private let request: ConnectRequest
    private let tell: @Sendable (ConnectOutcome) -> Void
    private let begun: Duration
    private var outcome = ConnectOutcome(end: .silent)
    private var isOver = false

    /// Begins the connection, which may be over at once.
    init(
        _ request: ConnectRequest,
        on socket: consuming NetworkSocket,
        _ loop: EngineLoop,
        _ tell: @escaping @Sendable (ConnectOutcome) -> Void
    ) {
        self.request = request
        self.tell = tell
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
        // Reading the queue of errors would clear the error that waits, so that is first.
        if let cause = socket?.takeError() {
            fail(cause, loop, otherwise: .failed(cause))
        } else if readiness.contains(.writable), !readiness.contains(.hungUp) {
            isOver = true
            outcome.local = socket?.localEndpoint
            outcome.information = socket?.information
            outcome.end = .connected(connection(loop))
        } else {
            receiveErrors(loop)
        }
    }

    private func fail(_ cause: SystemError, _ loop: EngineLoop, otherwise end: ConnectOutcome.End) {
        isOver = true
        receiveErrors(loop)
        outcome.end =
            if !outcome.errors.isEmpty {
                .error(cause)
            } else {
                switch cause {
                case .timedOut: .silent
                case .connectionRefused, .connectionReset: .failed(cause)
                default: end
                }
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

    /// Hands the socket over, or closes it.
    private func connection(_ loop: EngineLoop) -> Connection? {
        guard let socket = socket.take() else { return nil }
        switch request.afterwards {
        case .keep:
            loop.inbox.poller.remove(socket)
            return Connection(socket.release())
        case .reset: socket.descriptor.resetWhenClosed()
        case .close: break
        }
        return nil
    }

    func cancel(_ loop: EngineLoop) {
        outcome.end = .cancelled
        finish(loop)
    }

    private func finish(_ loop: EngineLoop) {
        outcome.begun = begun
        outcome.duration = loop.now - begun
        if outcome.information == nil { outcome.information = socket?.information }
        loop.finish { [tell, outcome] in tell(outcome) }
    }
}
