import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

extension FakeKernel {
    /// All that changes of a fake kernel, only ever touched under its lock.
    struct State: Sendable {
        /// The time that hints are noticed by.
        let clock: ManualClock
        var network = FakeNetwork()
        var connections: [UInt64: Listener] = [:]
        /// The batch under way; nil outside of one.
        var batch: Batch?
        var timers: [Cancellation] = []
        var delaysState = false
        var losesHints = false
        /// Who makes the changes.
        var author = EventBurst.Author.kernel
        var connectionFault: Fault?
        var questionFault: Fault?
        var questions = 0
        var lookups = 0
        var lookupRounds = 0
        var namespaceWatchers: [UInt64: @Sendable () -> Void] = [:]
        private var nextID: UInt64 = 0

        init(clock: ManualClock) {
            self.clock = clock
        }

        /// What has been announced of a batch so far, and what everybody sees until it is over.
        struct Batch: Sendable {
            var hints: [Hint] = []
            let networkBefore: FakeNetwork
        }

        /// What a connection is answered by.
        func network(for connection: UInt64) -> FakeNetwork {
            connections[connection]?.stateThen ?? batch?.networkBefore ?? network
        }

        mutating func connect() -> UInt64 {
            let id = makeID()
            connections[id] = Listener()
            return id
        }

        mutating func makeID() -> UInt64 {
            nextID += 1
            return nextID
        }

        /// Says which queues are to be called; nobody is called under the lock.
        mutating func change(_ body: (inout FakeNetwork) throws(Refusal) -> Void) throws(Refusal) -> [Call] {
            let before = network
            try body(&network)
            var burst = network.takeHeard()
            burst.author = author
            guard burst.isRelevant, !losesHints else { return [] }
            return send(Hint(burst: burst, staleState: delaysState ? before : nil))
        }

        mutating func send(_ hint: Hint) -> [Call] {
            guard batch == nil else {
                var hint = hint
                hint.stateThen = network
                batch?.hints.append(hint)
                return []
            }
            return send([hint])
        }

        mutating func finishBatch() -> [Call] {
            var hints = batch?.hints ?? []
            batch = nil
            // After the last of them the network is what it is.
            if let last = hints.indices.last { hints[last].stateThen = nil }
            return send(hints)
        }

        /// The next hint of a connection that has not been fetched otherwise.
        mutating func take(for connection: UInt64) -> (@Sendable () -> Void)? {
            guard let heard = connections[connection]?.heard, let burst = connections[connection]?.take() else {
                return nil
            }
            return { heard(burst) }
        }

        private mutating func send(_ hints: [Hint]) -> [Call] {
            var hints = hints
            let now = clock.monotonic
            for index in hints.indices { hints[index].burst.noticed = now }
            var calls: [Call] = []
            for (connection, listener) in connections {
                guard listener.isCurrent, let queue = listener.queue else { continue }
                connections[connection]?.pending += hints
                calls += hints.map { _ in Call(queue: queue, connection: connection) }
            }
            return calls
        }
    }
}
