/// The only owner of a connected TCP socket, until somebody takes it over. Letting go closes it.
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

    /// What the kernel knows of the connection now; nil once it is taken.
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
