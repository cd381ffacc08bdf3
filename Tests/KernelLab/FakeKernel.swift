package import Dispatch
package import LinuxSupport
package import Netlink
package import NetworkReachability
public import NetworkReachabilityTesting

/// A Linux network that tests play: links, addresses, routes and rules in memory, and the messages that Linux would
/// send about them.
///
/// It is honest: what it answers was compared with a real kernel. IPv4 routes vanish without a message when their link
/// goes down; a lookup succeeds without a carrier; a next hop object does not survive one. What Linux would refuse, and
/// what makes no sense, ends the program with a text that says why.
///
/// ```swift
/// let kernel = FakeKernel()
/// kernel.addLink("eth0")
/// kernel.addAddress("10.0.0.2/24", to: "eth0")
/// kernel.addRoute("default", via: "10.0.0.1")
/// kernel.setCarrier("eth0", false)
/// ```
///
/// Thread-safe. Changes are visible at once; hints of them are delivered on the queues that listen. It never waits.
public final class FakeKernel: Sendable {
    /// The time that routes expire by.
    public let clock: ManualClock

    let state: Locked<State>
    /// Where the kernel's own timers fire.
    let timerQueue = DispatchQueue(label: "FakeKernel")

    /// A network with nothing but `lo`, up, with 127.0.0.1/8 and ::1/128.
    public init(clock: ManualClock = ManualClock()) {
        self.clock = clock
        state = Locked(State(clock: clock))
    }

    /// Makes the changes of `body` in one go, as a batch of `ip` does: when it is over, the hints come one right after
    /// another, and who asks after the first sees what the network was then. Nobody sees any of it before.
    ///
    /// Changes other threads make at the same time belong to the batch. Batches cannot be nested.
    public func batch<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let isNested = state.withLock { state in
            defer { state.batch = state.batch ?? State.Batch(networkBefore: state.network) }
            return state.batch != nil
        }
        if isNested { fatalError("FakeKernel: batches cannot be nested") }
        defer { finishBatch() }
        try body()
    }

    /// Makes one change and lets everybody who listens hear of it; a refusal ends the program.
    func change(_ body: (inout FakeNetwork) throws(Refusal) -> Void) {
        do throws(Refusal) {
            let calls = try state.withLock { state throws(Refusal) in try state.change(body) }
            deliver(calls)
        } catch {
            fatalError("FakeKernel: \(error)")
        }
    }

    /// Sends a hint that no change stands behind.
    func send(_ burst: EventBurst) {
        deliver(state.withLock { $0.send(Hint(burst: burst)) })
    }

    /// Sees to it that `action` runs when `delay` has passed on the kernel's clock.
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
    /// A queue on which a connection is to be rung.
    struct Call: Sendable {
        let queue: DispatchQueue
        let connection: UInt64
    }
}

extension FakeKernel {
    /// How many questions were asked so far, lookups included.
    public var questionCount: Int { state.withLock { $0.questions } }

    /// How many routes were looked up so far.
    public var lookupCount: Int { state.withLock { $0.lookups } }

    /// In how many rounds they were, each of which is a round trip to the kernel.
    public var lookupRoundCount: Int { state.withLock { $0.lookupRounds } }

    /// How many connections are open.
    public var connectionCount: Int { state.withLock { $0.connections.count } }

    /// How many connections listen.
    public var listenerCount: Int { state.withLock { $0.connections.count { $0.value.queue != nil } } }
}

extension FakeKernel {
    /// One of the two families of addresses.
    public enum Family: Hashable, Sendable, CaseIterable {
        case ipv4
        case ipv6

        package var addressFamily: AddressFamily { self == .ipv4 ? .ipv4 : .ipv6 }
    }
}

extension FakeKernel {
    /// Why a netlink socket cannot be used.
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
    /// A burst on its way.
    struct Hint: Sendable {
        var burst: EventBurst
        /// What the network was when it was sent, where more of a batch follow.
        var stateThen: FakeNetwork?
        /// What the network was before, where the notification overtakes the state.
        var staleState: FakeNetwork?
    }
}

extension FakeKernel {
    /// One next hop of a route that has several.
    public struct Hop: Hashable, Sendable {
        let gateway: String?
        let link: String?

        /// - Parameters:
        ///   - gateway: the address of the router; nil for destinations on the link itself.
        ///   - link: the name of the link; nil for the one the router is on.
        public init(via gateway: String? = nil, on link: String? = nil) {
            self.gateway = gateway
            self.link = link
        }
    }
}

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
    /// What one connection has received and not yet read.
    struct Listener: Sendable {
        var queue: DispatchQueue?
        var received: (@Sendable (EventBurst) -> Void)?
        /// Whether the namespace of the connection is still the one that goes by its name.
        var isCurrent = true
        var pending: [Hint] = []
        /// Whether a hint was taken, and `received` has not returned.
        var isDelivering = false
        /// What the network was when the last hint was sent; nil for what it is.
        var stateThen: FakeNetwork?
        /// What the network was before; lookups see it until a barrier or their first answer.
        var staleState: FakeNetwork?

        /// The hint that comes next.
        mutating func take() -> EventBurst? {
            guard !pending.isEmpty else { return nil }
            let hint = pending.removeFirst()
            isDelivering = true
            stateThen = hint.stateThen
            staleState = hint.staleState
            return hint.burst
        }

        /// Hears no more.
        mutating func close() {
            queue = nil
            received = nil
            pending = []
            staleState = nil
            if isCurrent { stateThen = nil }
        }

        /// Stays behind in a namespace that lost its name, which nobody changes any more.
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
    /// Makes the changes of `body` as a process that asks from this netlink port. Changes other threads make meanwhile are its own, too.
    package func acting(from port: UInt32, _ body: () -> Void) {
        state.withLock { $0.author = .port(port) }
        body()
        state.withLock { $0.author = .kernel }
    }
}

extension FakeKernel {
    /// Lets the kernel lose messages for want of buffer space: listeners hear of the loss, not of the changes.
    ///
    /// - Parameter changes: what is changed without a hint.
    public func overrun<Failure: Error>(losing changes: () throws(Failure) -> Void = {}) throws(Failure) {
        state.withLock { $0.losesHints = true }
        defer {
            state.withLock { $0.losesHints = false }
            send(EventBurst(overruns: 1))
        }
        try changes()
    }

    /// Refuses every new connection from now on; nil allows them again.
    public func denyNetlink(_ fault: Fault? = .notPermitted) {
        state.withLock { $0.connectionFault = fault }
    }

    /// Answers no question from now on; nil answers again.
    public func failQuestions(_ fault: Fault? = .noBufferSpace) {
        state.withLock { $0.questionFault = fault }
    }

    /// Lets notifications overtake the state they announce, as they do on Linux: after a hint the first lookup still
    /// gives the old answer, unless a question about a link came between, which waits for the change to be complete.
    public func delayState(_ delays: Bool = true) {
        state.withLock { $0.delaysState = delays }
    }

    /// Deletes the namespace and makes it again under the same name, empty. Connections that are open stay behind in the
    /// old one, where nothing happens any more.
    public func replaceNamespace() {
        let watchers = state.withLock { state in
            for id in state.connections.keys { state.connections[id]?.strand(in: state.network) }
            state.network = FakeNetwork()
            return Array(state.namespaceWatchers.values)
        }
        for changed in watchers { changed() }
    }

    /// Lets what the kernel tells be unreadable from now on, on every connection that listens; new ones can be read.
    public func failListening(_ fault: Fault = .noBufferSpace) {
        var burst = EventBurst()
        burst.failure = fault.cause
        send(burst)
    }

    /// Sends a message that is not the kernel's: another process wrote to the socket.
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
