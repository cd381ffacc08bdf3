import Dispatch

/// A thread that tells callers what became of their jobs, for an engine whose own thread has moved to another network namespace. Thread-safe.
///
/// To tell somebody wakes a task or a queue, and Dispatch may start a thread for it at once. A thread begins in the namespace of the one
/// that starts it, and Dispatch's threads serve the whole program: sockets of others would be opened in the wrong network.
///
/// Source: `clone(2)`, `network_namespaces(7)`.
final class EngineHerald: Sendable {
    private struct State {
        var news: [@Sendable () -> Void] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Starts the thread, where the calling one is.
    init() throws(SystemError) {
        try Thread.detach { [self] in
            while let news = next() { for tell in news { tell() } }
        }
    }

    func tell(_ news: [@Sendable () -> Void]) {
        state.withLock { $0.news += news }
        bell.signal()
    }

    /// Lets the thread end when all is told.
    func close() {
        state.withLock { $0.isClosed = true }
        bell.signal()
    }

    private func next() -> [@Sendable () -> Void]? {
        bell.wait()
        return state.withLock { state in
            defer { state.news = [] }
            return state.isClosed && state.news.isEmpty ? nil : state.news
        }
    }
}
