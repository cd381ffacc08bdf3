import Dispatch
import Glibc

/// SIGINT and SIGTERM, which end a server, and SIGHUP where that is for reading the configuration again: waited for without a thread.
package struct EndSignals {
    private let signals: AsyncStream<CInt>
    private let sources: [any DispatchSourceSignal]

    /// From now on none of them ends the program by itself.
    package init(reloads: Bool) {
        let (signals, continuation) = AsyncStream.makeStream(of: CInt.self)
        let queue = DispatchQueue(label: "reachability.signals")
        self.signals = signals
        sources = ([SIGINT, SIGTERM] + (reloads ? [SIGHUP] : [])).map { number in
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
    }

    /// Waits until SIGINT or SIGTERM has come, and calls `reload` for each SIGHUP until then.
    package func wait(reload: @Sendable @escaping () -> Void) async {
        let queue = DispatchQueue(label: "reachability.reload")
        for await number in signals {
            guard number == SIGHUP else { return }
            queue.async(execute: reload)
        }
    }
}
