import Glibc

/// A request to open a TCP connection, with one attempt.
package struct ConnectRequest: Sendable {
    /// The action after the connection is open.
    package enum Afterwards: Hashable, Sendable {
        /// The connection is returned to the caller.
        case keep
        /// The connection is closed normally, which leaves the state TIME-WAIT.
        case close
        /// The connection is closed with a reset, which leaves no state.
        case reset
    }

    package var endpoint: SocketEndpoint
    package var settings: SocketSettings
    /// The number of SYN retransmissions (TCP_SYNCNT), at least 1. If nil, the system's default.
    package var retries: UInt8?
    /// The timeout, from the start of the connection.
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

/// The outcome of a `ConnectRequest`.
package struct ConnectOutcome: Sendable {
    /// The result of the attempt.
    package enum End: Sendable {
        /// The connection was opened. It is included if the request keeps it.
        case connected(Connection?)
        /// The connection was refused by a TCP reset, or failed without an ICMP error.
        case failed(SystemError)
        /// An ICMP error arrived, the last one of `errors`. The value is the kernel's error number for it.
        case error(SystemError)
        /// No answer arrived before the timeout or after the last SYN.
        case silent
        /// The connection could not be started.
        case notSent(SocketError)
        case cancelled
    }

    package var end: End
    /// The ICMP errors, with the addresses of their senders.
    package var errors: [ErrorQueueMessage] = []
    package var local: SocketEndpoint?
    /// The kernel's measurements when the connection was opened, or at the end of an attempt that failed. They include
    /// the number of segments sent. Nil if nothing was sent.
    package var information: TCPInformation?
    /// The start of the attempt, by CLOCK_MONOTONIC, after the wait for a free socket. Zero if it was not started.
    package var begun = Duration.zero
    /// The time from the start to the end.
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

    /// True if the answer was a reset. No process listens on the port. Packet filters that reject connections mostly
    /// send ICMP errors.
    package var isRefused: Bool {
        if case .failed(let cause) = end { cause == .connectionRefused } else { false }
    }
}

/// A TCP connection attempt in progress.
final class ConnectFlight: Flight {
    private var socket: NetworkSocket?
    private let request: ConnectRequest
    private let tell: @Sendable (ConnectOutcome) -> Void
    private let begun: Duration
    private var outcome = ConnectOutcome(end: .silent)
    private var isOver = false

    /// Starts the connection, which may fail immediately.
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
        // The pending error is read first, because reading the error queue clears it.
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

    /// Returns the connection to keep, or sets how it is closed.
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

/// The owner of a connected TCP socket, until another owner takes the socket. Its deinitializer closes the socket.
/// Thread-safe.
package final class Connection: Sendable {
    /// The descriptor; empty after it was taken.
    private let socket: Locked<[CInt]>

    init(_ descriptor: consuming Descriptor) {
        socket = Locked([descriptor.release()])
    }

    deinit {
        _ = take()
    }

    /// The kernel's current measurements; nil after the socket was taken.
    package var information: TCPInformation? { withSocket { TCPInformation(ofSocket: $0) } }

    /// Calls `body` with the descriptor. Returns nil if the socket was taken.
    func withSocket<Value: Sendable>(_ body: (CInt) -> Value?) -> Value? {
        socket.withLock { $0.first.flatMap(body) }
    }

    /// Returns the non-blocking socket to another owner, for example an event loop. The error queue is disabled,
    /// because the new owner would see it as an error. Returns nil if the socket was already taken.
    package func take() -> Descriptor? {
        guard let number = socket.withLock({ $0.popLast() }) else { return nil }
        let descriptor = Descriptor(owning: number)
        descriptor.ignoreErrorQueue()
        return descriptor
    }

    /// Closes the connection with a reset.
    package func reset() {
        take()?.resetWhenClosed()
    }
}

/// A second descriptor of a connection that other code uses. It reads the kernel's measurements and can decide how the
/// connection ends: while it exists, closing the other descriptor sends nothing to the peer.
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

    /// Makes the last close send a reset, so that the kernel sends nothing afterwards.
    package func resetWhenClosed() {
        descriptor.resetWhenClosed()
    }
}

extension Connection {
    /// Returns a second descriptor of the socket; nil if the socket was taken or no descriptor is available (EMFILE).
    package func meter() -> ConnectionMeter? {
        withSocket { number in
            let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
            return copy < 0 ? nil : ConnectionMeter(Descriptor(owning: copy))
        }
    }
}
