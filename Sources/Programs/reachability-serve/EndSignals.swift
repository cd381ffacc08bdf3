import Dispatch
import Glibc

/// SIGINT and SIGTERM, waited for without a thread.
struct EndSignals {
    private let signals: AsyncStream<CInt>
    private let sources: [any DispatchSourceSignal]

    /// From now on neither ends the program by itself.
    init() {
        let (signals, continuation) = AsyncStream.makeStream(of: CInt.self)
        self.signals = signals
        sources = [SIGINT, SIGTERM].map { number in
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
    }

    /// Waits until one of them has come.
    func wait() async {
        for await _ in signals { return }
    }
}
