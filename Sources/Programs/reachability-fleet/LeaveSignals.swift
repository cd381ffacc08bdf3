#if Fleet
import Dispatch
import Glibc

/// SIGINT and SIGTERM, which end an agent in order: why it is to leave, for each that comes.
struct LeaveSignals {
    let reasons: AsyncStream<String>
    private let sources: [any DispatchSourceSignal]

    /// From now on none of them ends the program by itself.
    init() {
        let (reasons, continuation) = AsyncStream.makeStream(of: String.self)
        let queue = DispatchQueue(label: "reachability.signals")
        self.reasons = reasons
        sources = [(SIGINT, "interrupted"), (SIGTERM, "stopped")].map { number, reason in
            _ = signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { continuation.yield(reason) }
            source.activate()
            return source
        }
    }
}
#endif
