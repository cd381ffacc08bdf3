package import Dispatch
import Glibc

/// Reports signals to a closure, from the return of the initializer until ``cancel()``.
///
/// Until then a signal has its former effect, so that none is lost while a program starts.
package struct SignalSources {
    private let sources: [any DispatchSourceSignal]

    /// - Parameters:
    ///   - queue: The queue that `handler` is called on.
    ///   - handler: Receives the number of each signal.
    package init(
        _ numbers: [CInt],
        onQueue queue: DispatchQueue = .global(),
        _ handler: @escaping @Sendable (CInt) -> Void
    ) {
        sources = numbers.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            let registered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { registered.signal() }
            source.setEventHandler { handler(number) }
            source.activate()
            registered.wait()
            return source
        }
    }

    /// Ends the reports.
    package func cancel() {
        for source in sources { source.cancel() }
    }
}

/// SIGINT and SIGTERM, which end a server, and SIGHUP if it reads its configuration again.
package struct EndSignals {
    /// The numbers of the signals that were received.
    package let numbers: AsyncStream<CInt>
    private let sources: SignalSources

    /// After this none of the signals ends the program.
    package init(reloads: Bool) {
        let (numbers, continuation) = AsyncStream.makeStream(of: CInt.self)
        self.numbers = numbers
        sources = SignalSources(
            [SIGINT, SIGTERM] + (reloads ? [SIGHUP] : []),
            onQueue: DispatchQueue(label: "reachability.signals")
        ) { continuation.yield($0) }
    }

    /// Waits for SIGINT or SIGTERM, and calls `reload` for each SIGHUP until then.
    package func wait(reload: @Sendable @escaping () -> Void) async {
        let queue = DispatchQueue(label: "reachability.reload")
        for await number in numbers {
            guard number == SIGHUP else { return }
            queue.async(execute: reload)
        }
    }
}
