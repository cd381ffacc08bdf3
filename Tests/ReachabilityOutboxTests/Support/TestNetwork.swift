import LinuxPrimitives
import ReachabilityOutbox

/// Hosts that can be reached when a test says so; all can at first.
final class TestNetwork: Sendable {
    private struct State {
        var away: Set<String> = []
        var listeners: [(host: String, continuation: AsyncStream<Bool>.Continuation)] = []
    }

    private let state = Locked(State())

    var reachability: OutboxReachability { OutboxReachability { [self] host in Changes(network: self, host: host) } }

    func set(_ host: String, reachable: Bool) {
        state.withLock { state in
            if reachable { state.away.remove(host) } else { state.away.insert(host) }
            for listener in state.listeners where listener.host == host { listener.continuation.yield(reachable) }
        }
    }

    /// How many loops follow a host that has not ended them.
    func listenerCount(_ host: String) -> Int {
        state.withLock { $0.listeners.count { $0.host == host } }
    }

    private func stream(_ host: String) -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        state.withLock { state in
            continuation.yield(!state.away.contains(host))
            state.listeners.append((host, continuation))
        }
        return stream
    }

    private struct Changes: AsyncSequence, Sendable {
        typealias Element = Bool
        typealias Failure = Never

        let network: TestNetwork
        let host: String

        func makeAsyncIterator() -> AsyncStream<Bool>.Iterator { network.stream(host).makeAsyncIterator() }
    }
}
