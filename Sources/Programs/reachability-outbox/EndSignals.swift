import Dispatch
import Glibc

/// SIGINT and SIGTERM, which let what is under way come to its end.
///
/// C counterpart: `signal(7)`.
enum EndSignals {
    /// Runs `work` in a task that either of them cancels.
    static func cancelling<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value
    {
        let task = Task { try await work() }
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { task.cancel() }
            source.activate()
            return source
        }
        defer { for source in sources { source.cancel() } }
        return try await task.value
    }
}
