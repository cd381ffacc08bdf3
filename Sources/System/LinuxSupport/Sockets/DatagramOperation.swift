/// A request to send datagrams to one address until an answer, an error or the timeout.
package struct DatagramRequest: Sendable {
    /// The content of the datagrams.
    package enum Content: Sendable {
        /// A UDP datagram.
        case payload([UInt8])
        /// An ICMP echo with this payload size in bytes: at least 8, at most `MessageBuffer.payloadSize` - 8.
        case echo(size: Int)
    }

    package var endpoint: SocketEndpoint
    package var content: Content
    package var settings: SocketSettings
    /// The times of the attempts from the start, in ascending order.
    package var tries: [Duration]
    /// The timeout, from the start.
    package var limit: Duration
    /// Whether an ICMP error ends the request. If false, it continues to wait for an answer.
    package var endsAtError: Bool
    /// Returns true for a UDP answer that ends the request. Other answers are recorded. It is called on the engine's
    /// thread with untrusted bytes, and must not block.
    package var accepts: @Sendable ([UInt8]) -> Bool
    /// Returns true if an attempt may be sent now. Otherwise the attempt is skipped. It is called on the engine's
    /// thread before each attempt, and must not block.
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

/// The outcome of a `DatagramRequest`.
package struct DatagramOutcome: Sendable {
    /// The result of the request.
    package enum End: Hashable, Sendable {
        /// An accepted answer arrived.
        case answered
        /// An ICMP error arrived, the last one of `errors`.
        case error
        /// No answer arrived before the timeout.
        case silent
        /// All attempts were skipped.
        case withheld
        /// No datagram could be sent.
        case notSent(SocketError)
        case cancelled
    }

    /// A datagram that was received.
    package struct Answer: Hashable, Sendable {
        package let sender: SocketEndpoint
        /// The payload. For an echo, the bytes after the ICMP header.
        package let payload: [UInt8]
        /// True if the datagram was longer than the payload.
        package let isTruncated: Bool
        /// The hop limit (TTL) of the received packet.
        package let hopLimit: UInt8?
        package let isAccepted: Bool
        package let timing: ReplyTiming
    }

    /// A message of the error queue.
    package struct Report: Hashable, Sendable {
        package let message: ErrorQueueMessage
        package let timing: ReplyTiming
    }

    package var end: End
    package var answers: [Answer] = []
    package var errors: [Report] = []
    /// The number of datagrams sent.
    package var sent = 0
    /// The errors of attempts that failed. Other attempts may have succeeded before the route or the interface was
    /// lost.
    package var failures: [SocketError] = []
    /// The local address.
    package var local: SocketEndpoint?
    /// The start of the request, by CLOCK_MONOTONIC, after the wait for a free socket. Zero if it was not started.
    package var begun = Duration.zero
    /// The time from the start to the end.
    package var duration = Duration.zero
}

/// The round-trip time of a reply.
package struct ReplyTiming: Hashable, Sendable {
    /// The time from the last sending before the reply until the engine has read the reply. It includes delays by other
    /// work of the machine.
    package let elapsed: Duration
    /// The time between the kernel's timestamps of both packets; nil without a timestamp, or if it is not known which
    /// datagram was answered.
    package let roundTrip: Duration?
}

/// A request for UDP datagrams to one address, on its own socket.
final class DatagramOperation: SocketOperation {
    private let socket: NetworkSocket
    private let payload: [UInt8]
    private let completion: @Sendable (DatagramOutcome) -> Void
    private var exchange: Exchange

    init(
        _ request: DatagramRequest,
        _ payload: [UInt8],
        on socket: consuming NetworkSocket,
        _ loop: EngineLoop,
        _ completion: @escaping @Sendable (DatagramOutcome) -> Void
    ) {
        exchange = Exchange(request, begun: loop.now, local: socket.localEndpoint)
        self.socket = socket
        self.payload = payload
        self.completion = completion
    }

    func advance(_ loop: EngineLoop) -> Duration? {
        while exchange.beginTry(at: loop.now) { send(loop) }
        guard let outcome = exchange.outcome(at: loop.now) else { return exchange.nextMoment }
        loop.inbox.poller.remove(socket)
        loop.finish { [completion] in completion(outcome) }
        return nil
    }

    private func send(_ loop: EngineLoop) {
        let (moment, time) = (SystemClock.monotonic, SystemClock.real)
        do throws(SystemError) {
            do throws(SystemError) {
                try socket.send(payload)
            } catch {
                // The error may belong to an earlier datagram. Such an error is reported once.
                receiveErrors(loop)
                try socket.send(payload)
            }
            _ = exchange.noteSent(at: moment, time: time)
        } catch {
            exchange.noteFailure(SocketError(.send(exchange.request.endpoint), error))
        }
    }

    func receive(_ readiness: Readiness, _ loop: EngineLoop) {
        // The error queue is read first, because it contains the send timestamps.
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
            // A pending error is returned once instead of data.
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
        loop.inbox.poller.remove(socket)
        loop.finish { [completion] in completion(outcome) }
    }
}
