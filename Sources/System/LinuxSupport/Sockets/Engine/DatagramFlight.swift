/// UDP datagrams to one address, on a socket of their own.
final class DatagramFlight: Flight {
    private let socket: NetworkSocket
    private let payload: [UInt8]
    private let tell: @Sendable (DatagramOutcome) -> Void
    private var exchange: Exchange

    init(
        _ request: DatagramRequest,
        _ payload: [UInt8],
        on socket: consuming NetworkSocket,
        _ loop: EngineLoop,
        _ tell: @escaping @Sendable (DatagramOutcome) -> Void
    ) {
        exchange = Exchange(request, begun: loop.now, local: socket.localEndpoint)
        self.socket = socket
        self.payload = payload
        self.tell = tell
    }

    func advance(_ loop: EngineLoop) -> Duration? {
        while exchange.beginTry(at: loop.now) { send(loop) }
        guard let outcome = exchange.outcome(at: loop.now) else { return exchange.nextMoment }
        loop.finish { [tell] in tell(outcome) }
        return nil
    }

    private func send(_ loop: EngineLoop) {
        let (moment, time) = (SystemClock.monotonic, SystemClock.real)
        do throws(SystemError) {
            do throws(SystemError) {
                try socket.send(payload)
            } catch {
                // It may be an error of what was sent before, which is reported once.
                receiveErrors(loop)
                try socket.send(payload)
            }
            _ = exchange.noteSent(at: moment, time: time)
        } catch {
            exchange.noteFailure(SocketError(.send(exchange.request.endpoint), error))
        }
    }

    func receive(_ readiness: Readiness, _ loop: EngineLoop) {
        // Errors first: when the datagram was sent is reported there, too.
        receiveErrors(loop)
        for _ in 0..<2 {
            let error = loop.buffer.receive(from: socket) { message in
                exchange.noteAnswer(
                    from: message.endpoint ?? exchange.request.endpoint,
                    Array(message.payload),
                    isTruncated: message.isTruncated,
                    control: message.control,
                    to: nil,
                    at: SystemClock.monotonic
                )
            }
            // An error that waits is reported instead of data, once.
            if error == nil { break }
        }
    }

    private func receiveErrors(_ loop: EngineLoop) {
        loop.buffer.receiveErrors(from: socket) { error, _ in
            if error.origin == .timestamping {
                if let time = error.time { exchange.noteStamp(time, of: Int(error.data)) }
            } else {
                exchange.noteError(error, to: nil, at: SystemClock.monotonic)
            }
        }
    }

    func cancel(_ loop: EngineLoop) {
        let outcome = exchange.outcome(endingWith: .cancelled, at: loop.now)
        loop.finish { [tell] in tell(outcome) }
    }
}
