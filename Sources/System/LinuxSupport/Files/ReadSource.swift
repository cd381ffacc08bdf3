package import Dispatch

/// A descriptor watched by Dispatch.
///
/// Dispatch sources are thread-safe but not marked so; the lock makes that good. Cancelling under it is safe, for Dispatch
/// never runs a handler inside `cancel()`.
package enum ReadSource {
    /// Runs `handler` on `queue` whenever `descriptor` is readable, until the result is cancelled or let go.
    ///
    /// - Parameter owner: what keeps the descriptor open. It is held until Dispatch is done with the descriptor: closed
    ///   any earlier, its number could be another file's.
    package static func watch<Owner: Sendable>(
        _ descriptor: CInt,
        of owner: Owner,
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler(handler: handler)
        source.setCancelHandler { withExtendedLifetime(owner) {} }
        source.activate()
        let locked = Locked(source)
        return Cancellation { locked.withLock { $0.cancel() } }
    }

    /// Runs `handler` on `queue` the first time `descriptor` is readable, unless the result is cancelled or let go before.
    /// For what stays readable for ever.
    package static func watchOnce<Owner: Sendable>(
        _ descriptor: CInt,
        of owner: Owner,
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let locked = Locked(DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue))
        let isOver = Locked(false)
        // Dispatch lets go of the handlers, and so of what they hold, after the end.
        @Sendable func end() -> Bool {
            locked.withLock { $0.cancel() }
            return isOver.withLock { isOver in
                defer { isOver = true }
                return !isOver
            }
        }
        locked.withLock { source in
            source.setEventHandler { if end() { handler() } }
            source.setCancelHandler { withExtendedLifetime(owner) {} }
            source.activate()
        }
        return Cancellation { _ = end() }
    }
}
