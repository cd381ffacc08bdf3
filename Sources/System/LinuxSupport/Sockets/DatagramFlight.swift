/// Something that is sent to one address, again and again until an answer or an error comes, or the time is over.
package struct DatagramRequest: Sendable {
    /// The content of a datagram.
    package enum Content: Sendable {
        /// A UDP datagram.
        case payload([UInt8])
        /// An ICMP echo with this number of bytes of payload: at least 8, and at most `MessageBuffer.payloadSize` less 8.
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
    /// True if a UDP answer is the one waited for: others are recorded, and waiting goes on. It is called on the engine's thread, with bytes
    /// from a stranger, and must not wait.
    package var accepts: @Sendable ([UInt8]) -> Bool
    /// True if it may be sent now; a try that may not is left out. It is called on the engine's thread at each try, and must not wait.
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

/// What came of a `DatagramRequest`.
package struct DatagramOutcome: Sendable {
    /// How it ended.
    package enum End: Hashable, Sendable {
        /// An answer that was accepted came.
        case answered
        /// An ICMP error came: the last of `errors`.
        case error
        /// Nothing came in time.
        case silent
        /// Each try was left out.
        case withheld
        /// Nothing could be sent.
        case notSent(SocketError)
        case cancelled
    }

    /// A datagram that came back.
    package struct Answer: Hashable, Sendable {
        package let sender: SocketEndpoint
        /// Of an echo, what follows the ICMP header.
        package let payload: [UInt8]
        /// It was longer than that.
        package let isTruncated: Bool
        /// The hop limit it arrived with.
        package let hopLimit: UInt8?
        package let isAccepted: Bool
        package let timing: ReplyTiming
    }

    /// A message of the queue of errors.
    package struct Report: Hashable, Sendable {
        package let message: ErrorQueueMessage
        package let timing: ReplyTiming
    }

    package var end: End
    package var answers: [Answer] = []
    package var errors: [Report] = []
    /// How many datagrams left the socket.
    package var sent = 0
    /// The tries that failed, also after others that did not: the route or the interface went.
    package var failures: [SocketError] = []
    /// Where it was sent from.
    package var local: SocketEndpoint?
    /// When it began, by CLOCK_MONOTONIC: not before its turn came. Zero where it did not.
    package var begun = Duration.zero
    /// From then to its end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}

/// How long a reply took.
package struct ReplyTiming: Hashable, Sendable {
    /// From the last sending before it to when the engine saw it: with what the machine was busy with meanwhile.
    package let elapsed: Duration
    /// Between the times the kernel recorded for both packets; nil where it did not, or where it is not known which datagram was replied to.
    package let roundTrip: Duration?
}

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
