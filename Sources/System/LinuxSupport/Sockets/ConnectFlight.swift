import Glibc

/// A TCP connection that is to be tried once.
package struct ConnectRequest: Sendable {
    /// What becomes of a connection that is made.
    package enum Afterwards: Hashable, Sendable {
        /// It is handed over.
        case keep
        /// It is closed as usual, which leaves a TIME-WAIT behind.
        case close
        /// It is closed with a reset, which leaves nothing behind.
        case reset
    }

    package var endpoint: SocketEndpoint
    package var settings: SocketSettings
    /// How often the SYN is sent again (TCP_SYNCNT), at least once; nil for the system's own number.
    package var retries: UInt8?
    /// When it ends, counted from the beginning.
    package var limit: Duration
    package var afterwards: Afterwards

    package init(
        to endpoint: SocketEndpoint,
        settings: SocketSettings = .init(),
        retries: UInt8? = 2,
        limit: Duration,
        afterwards: Afterwards = .reset
    ) {
        self.endpoint = endpoint
        self.settings = settings
        self.retries = retries
        self.limit = limit
        self.afterwards = afterwards
    }
}

/// What came of a `ConnectRequest`.
package struct ConnectOutcome: Sendable {
    /// How it ended.
    package enum End: Sendable {
        /// Open; here it is where it was to be kept.
        case connected(Connection?)
        /// Refused by a packet of TCP (a reset), or a fault without an ICMP error.
        case failed(SystemError)
        /// An ICMP error came: the last of `errors`. With it the kernel's number for it.
        case error(SystemError)
        /// No answer in time, or no answer to the last SYN.
        case silent
        /// The connection could not be begun.
        case notSent(SocketError)
        case cancelled
    }

    package var end: End
    /// ICMP errors, with those that said them.
    package var errors: [ErrorQueueMessage] = []
    package var local: SocketEndpoint?
    /// What the kernel measured, as soon as the connection was open, or at the end of one that did not open: how many segments it
    /// cost. Nil where nothing was sent.
    package var information: TCPInformation?
    /// When it began, by CLOCK_MONOTONIC: not before its turn came. Zero where it did not.
    package var begun = Duration.zero
    /// From then to its end.
    package var duration = Duration.zero

    package init(end: End) {
        self.end = end
    }
}

extension ConnectOutcome {
    /// True if the port is open.
    package var isConnected: Bool {
        if case .connected = end { true } else { false }
    }

    /// True if the answer was a reset: no process listens at the port. Packet filters that reject connections mostly send ICMP.
    package var isRefused: Bool {
        if case .failed(let cause) = end { cause == .connectionRefused } else { false }
    }
}

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

/// The only owner of a connected TCP socket, until another owner takes it. Its deinitializer closes the socket.
///
/// Thread-safe.
package final class Connection: Sendable {
    /// Empty once it is taken.
    private let socket: Locked<[CInt]>

    init(_ descriptor: consuming Descriptor) {
        socket = Locked([descriptor.release()])
    }

    deinit {
        _ = take()
    }

    /// The kernel's current measurements; nil after the socket was taken.
    package var information: TCPInformation? { withSocket { TCPInformation(ofSocket: $0) } }

    /// Lends the number of the socket; nil once it is taken.
    func withSocket<Value: Sendable>(_ body: (CInt) -> Value?) -> Value? {
        socket.withLock { $0.first.flatMap(body) }
    }

    /// Gives the non-blocking socket away, for example to an event loop. Its queue of errors is off from now on, for that would look
    /// like an error to others. Nil where it is gone already.
    package func take() -> Descriptor? {
        guard let number = socket.withLock({ $0.popLast() }) else { return nil }
        let descriptor = Descriptor(owning: number)
        descriptor.ignoreErrorQueue()
        return descriptor
    }

    /// Closes it with a reset.
    package func reset() {
        take()?.resetWhenClosed()
    }
}

/// Reads what the kernel knows of a connection that somebody else sends over, and decides how it ends: as long as this lives, closing
/// elsewhere says nothing to the peer.
///
/// Thread-safe.
///
/// C counterpart: `dup(2)`.
package final class ConnectionMeter: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// The kernel's current measurements, also after the peer has closed the connection.
    package var information: TCPInformation? { TCPInformation(ofSocket: descriptor.number) }

    /// Lets the end of it be a reset, which leaves nothing behind that goes on sending.
    package func resetWhenClosed() {
        descriptor.resetWhenClosed()
    }
}

extension Connection {
    /// A second handle on the socket; nil where it is taken already, or there is no descriptor left (EMFILE).
    package func meter() -> ConnectionMeter? {
        withSocket { number in
            let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
            return copy < 0 ? nil : ConnectionMeter(Descriptor(owning: copy))
        }
    }
}
