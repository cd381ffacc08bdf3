import Dispatch
import LinuxSupport
import NIOHTTP1

/// Answers requests one at a time, of each client one in turn: a client that sends many requests delays its own alone.
///
/// A request whose client has disconnected is not answered.
package final class RequestQueue: Sendable {
    private struct State {
        var waiting: [WebClient: [@Sendable () -> Void]] = [:]
        /// The clients that have a request waiting, in the order of their turns.
        var turns: [WebClient] = []
    }

    private let queue: DispatchQueue
    private let state = Locked(State())

    package init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Adds a request.
    ///
    /// - Parameters:
    ///   - answer: Makes the answer, on the queue.
    ///   - done: Receives the answer.
    package func add(
        _ request: WebRequest,
        _ answer: @escaping @Sendable () -> WebAnswer,
        _ done: @escaping @Sendable (WebAnswer) -> Void
    ) {
        state.withLock { state in
            if state.waiting[request.client] == nil { state.turns.append(request.client) }
            state.waiting[request.client, default: []].append {
                done(request.isAbandoned() ? WebAnswer(.serviceUnavailable) : answer())
            }
        }
        queue.async { [self] in next()?() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.turns.isEmpty else { return nil }
            let client = state.turns.removeFirst()
            let work = state.waiting[client]?.removeFirst()
            if state.waiting[client]?.isEmpty ?? true {
                state.waiting[client] = nil
            } else {
                state.turns.append(client)
            }
            return work
        }
    }
}
