/// Echoes to one address, on a socket that others use as well.
final class EchoFlight: Flight {
    private let tell: @Sendable (DatagramOutcome) -> Void
    private unowned let socket: PingSocket
    var exchange: Exchange
    /// What marks the echoes as ours.
    let nonce = UInt64.random(in: 0 ... .max)
    /// Of ICMP, header and payload.
    let length: Int
    /// Sent or about to be sent.
    var sequences: [UInt16] = []
    let number: UInt64

    init(
        _ number: UInt64,
        _ request: DatagramRequest,
        size: Int,
        on socket: PingSocket,
        _ loop: EngineLoop,
        _ tell: @escaping @Sendable (DatagramOutcome) -> Void
    ) {
        self.number = number
        self.socket = socket
        self.tell = tell
        length = 8 + max(8, min(size, MessageBuffer.payloadSize - 8))
        exchange = Exchange(request, begun: loop.now, local: socket.localEndpoint)
    }

    var endpoint: SocketEndpoint { exchange.request.endpoint }

    func advance(_ loop: EngineLoop) -> Duration? {
        while exchange.beginTry(at: loop.now) { socket.enqueue(self) }
        guard let outcome = exchange.outcome(at: loop.now) else { return exchange.nextMoment }
        end(outcome, loop)
        return nil
    }

    /// What the socket has is shared among its echoes.
    func receive(_ readiness: Readiness, _ loop: EngineLoop) {}

    func cancel(_ loop: EngineLoop) {
        end(exchange.outcome(endingWith: .cancelled, at: loop.now), loop)
    }

    private func end(_ outcome: DatagramOutcome, _ loop: EngineLoop) {
        loop.finish { [tell] in tell(outcome) }
        socket.remove(self, loop)
    }
}
