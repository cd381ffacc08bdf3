import Glibc

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
