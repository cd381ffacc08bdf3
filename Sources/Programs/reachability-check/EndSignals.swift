import Dispatch
import Glibc

/// Ends the program when it is told to. Lines are written whole, by one system call each, so nothing is left to flush.
final class EndSignals {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter status: what it ends with, by the number of the signal.
    init(_ status: @escaping @Sendable (Int32) -> Int32) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { exit(status(number)) }
            source.resume()
            return source
        }
    }
}
