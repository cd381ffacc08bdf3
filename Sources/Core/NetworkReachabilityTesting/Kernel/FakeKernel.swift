import Dispatch
package import LinuxPrimitives
import Netlink

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
                guard let heard = self?.state.withLock({ $0.take(for: call.connection) }) else { return }
                heard()
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
