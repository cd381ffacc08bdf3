import Dispatch
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The times and queues of listener calls.
@Suite struct ListenerTests {
    @Test(arguments: WorldKind.allCases)
    func `the first call reports the current state`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            let (before, after) = (Listener(), Listener())
            let manager = try world.manager()
            manager.startListening(onQueue: before.queue, onUpdatePerforming: before.record)
            checks.expect(in: world, before.values, becomes: [.notReachable])
            manager.stopListening()
            try world.apply(Change.ipv4Uplink)
            manager.startListening(onQueue: after.queue, onUpdatePerforming: after.record)
            checks.expect(in: world, after.values, becomes: [.wired])
            checks.expect(before.values, is: [.notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `each change is reported once and in order`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            var expected = [NetworkReachabilityStatus.wired]
            checks.expect(in: world, listener.values, becomes: expected)
            for _ in 0..<10 {
                try world.apply(.lose)
                expected.append(.notReachable)
                checks.expect(in: world, listener.values, becomes: expected)
                try world.apply(.regain)
                expected.append(.wired)
                checks.expect(in: world, listener.values, becomes: expected)
            }
            checks.expect(listener.misplaced.count, is: 0)
            withExtendedLifetime(manager) {}
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a change that leaves the flags unchanged is not reported`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink + Change.cable("c1", 2)) { world, checks in
            let (manager, listener) = try world.listeningManager()
            checks.expect(in: world, listener.values, becomes: [.wired])
            try world.apply(
                .replaceRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")),
                .rename("c0", to: "c9"),
                .down("c9"),
                .route(RouteChange("198.51.100.0/24", .blackhole))
            )
            try world.apply(.removeRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")))
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }

    /// Alamofire 5's closure receives changes of the status, Alamofire 4's property changes of the flags.
    @Test(arguments: WorldKind.allCases)
    func `a change of only the flags is reported to the listener property alone`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (closure, property) = (Listener(), Listener())
            let (five, four) = (try world.manager(), try world.manager())
            five.startListening(onQueue: closure.queue, onUpdatePerforming: closure.record)
            (four.listener, four.listenerQueue) = (property.record, property.queue)
            four.startListening()
            checks.expect(in: world, closure.values, becomes: [.wired])
            checks.expect(in: world, property.values, becomes: [.wired])
            let onLink = RouteChange("0.0.0.0/0", on: "c0")
            try world.apply(.replaceRoute(onLink))
            checks.expect(in: world, property.values, becomes: [.wired, .wired])
            checks.expect(five.flags, is: [.reachable, .isDirect])
            try world.apply(.removeRoute(onLink))
            checks.expect(in: world, property.values, becomes: [.wired, .wired, .notReachable])
            checks.expect(in: world, closure.values, becomes: [.wired, .notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a listener that is stopped on its queue is not called again`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (listener, witness) = (Listener(), Listener())
            let (manager, other) = (try world.manager(), try world.manager())
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            other.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            // A change is pending when listening stops.
            try listener.queue.sync {
                try world.apply(.lose)
                checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
                manager.stopListening()
                manager.stopListening()
            }
            checks.expect(listener.values, is: [.wired])
            checks.expect(manager.isListening, is: false)
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            try world.apply(.regain)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable, .wired])
            checks.expect(listener.misplaced.count, is: 0)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `the listener of a released manager is not called`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (listener, witness) = (Listener(), Listener())
            var manager: NetworkReachabilityManager? = try world.manager()
            let other = try world.manager()
            manager?.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            other.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            weak let released = manager
            manager = nil
            checks.expect(released == nil, "the manager lives on")
            try world.apply(.lose)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
            checks.expect(listener.values, is: [.wired])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a listener can be replaced while listening`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (first, second, third) = (Listener(), Listener(), Listener())
            let manager = try world.manager()
            manager.listener = first.record
            manager.listenerQueue = first.queue
            manager.startListening()
            checks.expect(in: world, first.values, becomes: [.wired])
            manager.listener = second.record
            manager.listenerQueue = second.queue
            try world.apply(.lose)
            checks.expect(in: world, second.values, becomes: [.notReachable])
            manager.startListening(onQueue: third.queue, onUpdatePerforming: third.record)
            checks.expect(in: world, third.values, becomes: [.notReachable])
            try world.apply(.regain)
            checks.expect(in: world, third.values, becomes: [.notReachable, .wired])
            checks.expect(first.values, is: [.wired])
            checks.expect(second.values, is: [.notReachable])
        }
    }
}

/// The end of listening inside a listener, and tokens.
@Suite struct ListenerEndTests {
    @Test(arguments: WorldKind.allCases)
    func `a listener can stop its own listening`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (listener, witness) = (Listener(), Listener())
            let (manager, other) = (try world.manager(), try world.manager())
            manager.startListening(onQueue: listener.queue) { [weak manager] status in
                listener.record(status)
                manager?.stopListening()
            }
            other.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
            checks.expect(listener.values, is: [.wired])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `the closure is released when listening stops`(kind: WorldKind) async throws {
        final class Captured: Sendable {
            let hasDied: Locked<Bool>

            init(_ hasDied: Locked<Bool>) {
                self.hasDied = hasDied
            }

            deinit {
                hasDied.withLock { $0 = true }
            }
        }
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (listener, manager) = (Listener(), try world.manager())
            let hasDied = Locked(false)
            do {
                let captured = Captured(hasDied)
                manager.startListening(onQueue: listener.queue) { status in
                    withExtendedLifetime(captured) { listener.record(status) }
                }
            }
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(hasDied.withLock { $0 }, is: false)
            manager.stopListening()
            checks.expect(in: world, hasDied.withLock { $0 }, becomes: true)
            checks.expect(manager.status, is: .wired)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a listener can release its manager`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (listener, witness) = (Listener(), Listener())
            let other = try world.manager()
            let holder: Locked<NetworkReachabilityManager?> = Locked(try world.manager())
            let released: Locked<Bool> = Locked(false)
            holder.withLock { $0 }?
                .startListening(onQueue: listener.queue) { status in
                    listener.record(status)
                    let last = holder.withLock { manager in
                        defer { manager = nil }
                        return manager
                    }
                    weak let weakly = last
                    withExtendedLifetime(last) {}
                    released.withLock { $0 = weakly == nil || last != nil }
                }
            other.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            checks.expect(holder.withLock { $0 == nil }, "nothing was let go")
            try world.apply(.lose)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
            checks.expect(listener.values, is: [.wired])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `each token keeps one listener`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (first, second, third) = (Listener(), Listener(), Listener())
            let manager = try world.manager()
            let firstToken = manager.addListener(onQueue: first.queue, first.record)
            var secondToken: NetworkReachabilityToken? = manager.addListener(onQueue: second.queue, second.record)
            let thirdToken = manager.addListener(onQueue: third.queue, third.record)
            for listener in [first, second, third] { checks.expect(in: world, listener.values, becomes: [.wired]) }
            checks.expect(manager.isListening, is: false)
            manager.startListening(onQueue: first.queue) { _ in }
            manager.stopListening()
            checks.expect(secondToken != nil, "no token")
            secondToken = nil
            thirdToken.cancel()
            try world.apply(.lose)
            checks.expect(in: world, first.values, becomes: [.wired, .notReachable])
            for listener in [second, third] { checks.expect(listener.values, is: [.wired]) }
            withExtendedLifetime(firstToken) {}
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a token keeps its listener after its manager was released`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let token = try world.manager().addListener(onQueue: listener.queue, listener.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a listener can cancel its own token`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (listener, witness) = (Listener(), Listener())
            let manager = try world.manager()
            let holder: Locked<NetworkReachabilityToken?> = Locked(nil)
            let token = manager.addListener(onQueue: listener.queue) { status in
                listener.record(status)
                if status == .notReachable { holder.withLock { $0 }?.cancel() }
            }
            holder.withLock { $0 = token }
            manager.startListening(onQueue: witness.queue, onUpdatePerforming: witness.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            checks.expect(in: world, witness.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            try world.apply(.regain)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable, .wired])
            checks.expect(listener.values, is: [.wired, .notReachable])
        }
    }

    @Test func `the monitor stops listening with the last listener`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let (manager, other) = (try world.manager(), try world.manager(of: "203.0.113.7"))
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            let token = other.addListener(onQueue: listener.queue, listener.record)
            world.settle()
            checks.expect(world.kernel.listenerCount, is: 1)
            manager.stopListening()
            world.settle()
            checks.expect(world.kernel.listenerCount, is: 1)
            token.cancel()
            world.settle()
            checks.expect(world.kernel.listenerCount, is: 0)
            checks.expect(world.clock.scheduledCount, is: 0)
            withExtendedLifetime((manager, other)) {}
        }
    }
}

/// A queue, and the statuses that are received on it.
struct Listener: Sendable {
    let queue: DispatchQueue
    let received = RecordingListener<NetworkReachabilityStatus>()
    /// The calls on another queue.
    let misplaced = RecordingListener<Void>()
    private static let key = DispatchSpecificKey<UInt64>()
    private let mark = UInt64.random(in: 1 ... .max)

    init(_ label: String = "Listener") {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: Listener.key, value: mark)
    }

    @Sendable func record(_ status: NetworkReachabilityStatus) {
        if DispatchQueue.getSpecific(key: Listener.key) != mark { misplaced.record(()) }
        received.record(status)
    }

    /// The received statuses, including pending calls on the queue.
    var values: [NetworkReachabilityStatus] {
        queue.sync {}
        return received.values
    }
}

extension NetworkReachabilityStatus {
    static let wired = NetworkReachabilityStatus.reachable(.ethernetOrWiFi)
}

extension Change {
    /// Removes reachability in one step. `regain` restores it.
    static let lose = Change.removeRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))
    static let regain = Change.addRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1"))
    /// An uplink with a single default route, which `lose` and `regain` change.
    static let ipv4Uplink: [Change] = [.add("c0"), .address("10.1.0.2/24", on: "c0"), regain]
}
