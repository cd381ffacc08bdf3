import Dispatch
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Ends from within, and tokens.
@Suite struct ListenerEndTests {
    @Test(arguments: WorldKind.allCases)
    func theEndInsideTheListener(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
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
    func theEndLetsGoOfTheClosure(kind: WorldKind) async throws {
        final class Captured: Sendable {
            let hasDied: Locked<Bool>

            init(_ hasDied: Locked<Bool>) {
                self.hasDied = hasDied
            }

            deinit {
                hasDied.withLock { $0 = true }
            }
        }
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
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
    func theLastReleaseInsideTheListener(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
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
    func severalListenersByToken(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (first, second, third) = (Listener(), Listener(), Listener())
            let manager = try world.manager()
            let firstToken = manager.addListener(onQueue: first.queue, first.record)
            var secondToken: NetworkReachabilityToken? = manager.addListener(onQueue: second.queue, second.record)
            let thirdToken = manager.addListener(onQueue: third.queue, third.record)
            for listener in [first, second, third] { checks.expect(in: world, listener.values, becomes: [.wired]) }
            checks.expect(manager.isListening, is: false)
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
    func aTokenOutlivesItsManager(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let listener = Listener()
            let token = try world.manager().addListener(onQueue: listener.queue, listener.record)
            checks.expect(in: world, listener.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func aTokenCancelledInsideItsListener(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    @Test func theMonitorStopsListeningWithTheLast() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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
