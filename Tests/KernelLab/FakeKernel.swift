package import Dispatch
package import LinuxSupport
package import Netlink
package import NetworkReachability
public import NetworkReachabilityTesting

/// A simulated Linux network: links, addresses, routes and rules in memory, and the messages that Linux would send
/// about them.
///
/// Its answers were compared with those of a real kernel. For example, setting a link down removes its IPv4 routes
/// without a message, a lookup succeeds without carrier, and the loss of carrier removes next hop objects. A change
/// that Linux would refuse or that is meaningless ends the program with the reason.
///
/// ```swift
/// let kernel = FakeKernel()
/// kernel.addLink("eth0")
/// kernel.addAddress("10.0.0.2/24", to: "eth0")
/// kernel.addRoute("default", via: "10.0.0.1")
/// kernel.setCarrier("eth0", false)
/// ```
///
/// Thread-safe. Changes are visible at once, and their hints are delivered on the queues of listeners. No function
/// waits.
public final class FakeKernel: Sendable {
    /// The clock that determines when routes expire.
    public let clock: ManualClock

    let state: Locked<State>
    /// The queue on which the kernel's timers fire.
    let timerQueue = DispatchQueue(label: "FakeKernel")

    /// Creates a network with only `lo`, which is up and has 127.0.0.1/8 and ::1/128.
    public init(clock: ManualClock = ManualClock()) {
        self.clock = clock
        state = Locked(State(clock: clock))
    }

    /// Makes the changes of `body` at once, like a batch of `ip`. The hints follow each other directly at the end of
    /// the batch. A query after a hint returns the state at the time of that hint. Before the end of the batch no
    /// change is visible.
    ///
    /// Concurrent changes of other threads belong to the batch. Batches cannot be nested.
    public func batch<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let isNested = state.withLock { state in
            defer { state.batch = state.batch ?? State.Batch(networkBefore: state.network) }
            return state.batch != nil
        }
        if isNested { fatalError("FakeKernel: batches cannot be nested") }
        defer { finishBatch() }
        try body()
    }

    /// Makes one change and notifies all listeners. A refusal ends the program.
    func change(_ body: (inout FakeNetwork) throws(Refusal) -> Void) {
        do throws(Refusal) {
            let calls = try state.withLock { state throws(Refusal) in try state.change(body) }
            deliver(calls)
        } catch {
            fatalError("FakeKernel: \(error)")
        }
    }

    /// Sends a hint without a change.
    func send(_ burst: EventBurst) {
        deliver(state.withLock { $0.send(Hint(burst: burst)) })
    }

    /// Runs `action` after a delay on the kernel's clock.
    func schedule(after delay: Duration, _ action: @escaping @Sendable (FakeKernel) -> Void) {
        let timer = clock.schedule(after: delay, on: timerQueue) { [weak self] in
            if let self { action(self) }
        }
        state.withLock { $0.timers.append(timer) }
    }

    func deliver(_ calls: [Call]) {
        for call in calls {
            call.queue.async { [weak self] in
                guard let received = self?.state.withLock({ $0.take(for: call.connection) }) else { return }
                received()
                self?.state.withLock { $0.connections[call.connection]?.isDelivering = false }
            }
        }
    }

    private func finishBatch() {
        deliver(state.withLock { $0.finishBatch() })
    }
}

extension FakeKernel {
    /// A pending call of a connection on its queue.
    struct Call: Sendable {
        let queue: DispatchQueue
        let connection: UInt64
    }
}

extension FakeKernel {
    /// The number of queries so far, including lookups.
    public var questionCount: Int { state.withLock { $0.questions } }

    /// The number of route lookups so far.
    public var lookupCount: Int { state.withLock { $0.lookups } }

    /// The number of rounds of lookups so far. Each round is one round trip to the kernel.
    public var lookupRoundCount: Int { state.withLock { $0.lookupRounds } }

    /// The number of open connections.
    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// The number of listening connections.
    public var listenerCount: Int { state.withLock { $0.connections.count { $0.value.queue != nil } } }
}

extension FakeKernel {
    /// An address family.
    public enum Family: Hashable, Sendable, CaseIterable {
        case ipv4
        case ipv6

        package var addressFamily: AddressFamily { self == .ipv4 ? .ipv4 : .ipv6 }
    }
}

extension FakeKernel {
    /// The reason why a netlink socket cannot be used.
    public enum Fault: Hashable, Sendable, CaseIterable {
        /// EPERM: a seccomp filter, as in some containers.
        case notPermitted
        /// EACCES: a security module.
        case accessDenied
        /// ENOBUFS: no memory.
        case noBufferSpace
        /// EAGAIN: the kernel did not answer in time.
        case timedOut

        var cause: SystemError {
            switch self {
            case .notPermitted: .notPermitted
            case .accessDenied: .accessDenied
            case .noBufferSpace: .noBufferSpace
            case .timedOut: .tryAgain
            }
        }
    }
}

extension FakeKernel {
    /// A burst of events that was not delivered yet.
    struct Hint: Sendable {
        var burst: EventBurst
        /// The network at the time of the hint, if more hints of a batch follow.
        var stateThen: FakeNetwork?
        /// The network before the change, if the notification precedes the state.
        var staleState: FakeNetwork?
    }
}

extension FakeKernel {
    /// One next hop of a route that has several.
    public struct Hop: Hashable, Sendable {
        let gateway: String?
        let link: String?

        /// - Parameters:
        ///   - gateway: The address of the router; nil for destinations on the link itself.
        ///   - link: The name of the link; nil for the link of the router.
        public init(via gateway: String? = nil, on link: String? = nil) {
            self.gateway = gateway
            self.link = link
        }
    }
}

extension FakeKernel {
    /// The mutable state of a fake kernel, which is used only under its lock.
    struct State: Sendable {
        /// The clock for the times at which hints are received.
        let clock: ManualClock
        var network = FakeNetwork()
        var connections: [UInt64: Listener] = [:]
        /// The current batch; nil outside a batch.
        var batch: Batch?
        var timers: [Cancellation] = []
        var delaysState = false
        var losesHints = false
        /// The originator of the changes.
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

        /// The hints of a batch so far, and the network that is visible until its end.
        struct Batch: Sendable {
            var hints: [Hint] = []
            let networkBefore: FakeNetwork
        }

        /// Returns the network that is visible to a connection.
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

        /// Makes a change, and returns the calls to make. They are made outside the lock.
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
            // After the last hint the current network is visible.
            if let last = hints.indices.last { hints[last].stateThen = nil }
            return send(hints)
        }

        /// Returns the call for the next pending hint of a connection; nil if the hint was already read.
        mutating func take(for connection: UInt64) -> (@Sendable () -> Void)? {
            guard let received = connections[connection]?.received, let burst = connections[connection]?.take() else {
                return nil
            }
            return { received(burst) }
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

extension FakeKernel {
    /// The listening state of one connection, with the hints that were received and not yet read.
    struct Listener: Sendable {
        var queue: DispatchQueue?
        var received: (@Sendable (EventBurst) -> Void)?
        /// Whether the name of the namespace still refers to the namespace of the connection.
        var isCurrent = true
        var pending: [Hint] = []
        /// Whether a hint was taken, and `received` has not returned.
        var isDelivering = false
        /// The network at the time of the last hint; nil for the current network.
        var stateThen: FakeNetwork?
        /// The network before the change. Lookups use it until a barrier or their first answer.
        var staleState: FakeNetwork?

        /// Takes the next hint.
        mutating func take() -> EventBurst? {
            guard !pending.isEmpty else { return nil }
            let hint = pending.removeFirst()
            isDelivering = true
            stateThen = hint.stateThen
            staleState = hint.staleState
            return hint.burst
        }

        /// Stops listening.
        mutating func close() {
            queue = nil
            received = nil
            pending = []
            staleState = nil
            if isCurrent { stateThen = nil }
        }

        /// Keeps the connection in a namespace that lost its name and no longer changes.
        mutating func strand(in network: FakeNetwork) {
            guard isCurrent else { return }
            isCurrent = false
            pending = []
            staleState = nil
            stateThen = network
        }
    }
}

extension FakeKernel {
    /// Makes the changes of `body` as the process with a netlink port. Concurrent changes of other threads count as
    /// its changes, too.
    package func acting(from port: UInt32, _ body: () -> Void) {
        state.withLock { $0.author = .port(port) }
        body()
        state.withLock { $0.author = .kernel }
    }
}

extension FakeKernel {
    /// Simulates an overrun: listeners are notified of the overrun and not of the changes.
    ///
    /// - Parameter changes: The changes whose hints are lost.
    public func overrun<Failure: Error>(losing changes: () throws(Failure) -> Void = {}) throws(Failure) {
        state.withLock { $0.losesHints = true }
        defer {
            state.withLock { $0.losesHints = false }
            send(EventBurst(overruns: 1))
        }
        try changes()
    }

    /// Sets the fault of new connections; nil permits them.
    public func denyNetlink(_ fault: Fault? = .notPermitted) {
        state.withLock { $0.connectionFault = fault }
    }

    /// Sets the fault of queries; nil answers them.
    public func failQuestions(_ fault: Fault? = .noBufferSpace) {
        state.withLock { $0.questionFault = fault }
    }

    /// Makes notifications precede the state that they announce, as on Linux. The first lookup after a hint returns
    /// the old answer, unless a query about a link precedes it. That query waits until the change is complete.
    public func delayState(_ delays: Bool = true) {
        state.withLock { $0.delaysState = delays }
    }

    /// Deletes the namespace and creates an empty one with the same name. Open connections remain in the old
    /// namespace, which no longer changes.
    public func replaceNamespace() {
        let watchers = state.withLock { state in
            for id in state.connections.keys { state.connections[id]?.strand(in: state.network) }
            state.network = FakeNetwork()
            return Array(state.namespaceWatchers.values)
        }
        for changed in watchers { changed() }
    }

    /// Makes the events unreadable on all listening connections. New connections can be read.
    public func failListening(_ fault: Fault = .noBufferSpace) {
        var burst = EventBurst()
        burst.failure = fault.cause
        send(burst)
    }

    /// Sends a message of another process.
    public func sendForeignMessage() {
        send(EventBurst(foreign: 1))
    }
}

extension FakeKernel: Kernel {
    package func connect() throws(NetlinkError) -> any KernelConnection {
        let (connection, fault) = state.withLock { state in
            state.connectionFault.map { (0, $0) } ?? (state.connect(), nil)
        }
        if let fault { throw NetlinkError("open a netlink socket", fault.cause) }
        return FakeConnection(connection, to: self)
    }

    package func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] {
        let outcome: Result<[DefaultRoute], NetlinkError> = state.withLock { state in
            if let fault = state.connectionFault {
                return .failure(NetlinkError("open a netlink socket", fault.cause))
            }
            return .success(state.network.defaultRoutes)
        }
        return try outcome.get()
    }

    package func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let id = state.withLock { state in
            let id = state.makeID()
            state.namespaceWatchers[id] = { queue.async { changed() } }
            return id
        }
        return Cancellation { [weak self] in
            _ = self?.state.withLock { $0.namespaceWatchers.removeValue(forKey: id) }
        }
    }
}
