import Dispatch
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Concurrent starts and stops of listening.
@Suite struct RaceTests {
    @Test(arguments: ["203.0.113.7", "example.org"])
    func `concurrent starts and stops leave no listener and no timer`(host: String) async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set("example.org", addresses: ["203.0.113.7"])
            let listener = Listener()
            let manager = try world.manager(of: host)
            for _ in 0..<300 {
                DispatchQueue.concurrentPerform(iterations: 2) { thread in
                    for _ in 0..<20 {
                        if thread == 0 {
                            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
                        } else {
                            manager.stopListening()
                        }
                    }
                }
                manager.stopListening()
                world.flush()
                checks.expect(world.kernel.listenerCount, is: 0)
                checks.expect(world.clock.scheduledCount, is: 0)
                if world.kernel.listenerCount != 0 { return }
            }
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            checks.expect(in: world, listener.values.last, becomes: .wired)
            world.settle()
            checks.expect(listener.values.last, is: .wired)
            listener.received.removeAll()
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `concurrent queries agree with the listener`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (manager, listener) = try world.listeningManager()
            checks.expect(in: world, listener.values, becomes: [.wired])
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for round in 0..<50 {
                    if thread == 0 { try? world.apply(round % 2 == 0 ? .lose : .regain) } else { _ = manager.path }
                }
            }
            try world.apply(.lose)
            checks.expect(manager.status, is: .notReachable)
            checks.expect(in: world, listener.values.last, becomes: .notReachable)
            let values = listener.values
            checks.expect(zip(values, values.dropFirst()).allSatisfy { $0 != $1 }, "reported twice: \(values)")
        }
    }
}

/// Monitors, evaluations and connections that managers share.
@Suite struct SharingTests {
    /// Returns the number of kernel queries after a change of the network while a number of managers listen.
    private static func questions(_ count: Int, _ hosts: [String?], _ checks: Checks) throws -> Int {
        let world = FakeWorld()
        try world.apply(Change.ipv4Uplink)
        let listener = Listener()
        let managers = try (0..<count).map { try world.manager(of: hosts[$0 % hosts.count]) }
        // All managers start in one turn, so that the last evaluation includes all of them.
        world.holdingMonitor {
            for manager in managers {
                manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            }
        }
        world.settle()
        checks.expect(listener.values.count, is: count)
        let before = world.kernel.questionCount
        try world.apply(.lose)
        world.flush()
        checks.expect(listener.values.count, is: 2 * count)
        checks.expect(world.kernel.connectionCount, is: 1)
        checks.expect(world.kernel.listenerCount, is: 1)
        return world.kernel.questionCount - before
    }

    @Test func `managers of equal targets share one evaluation`() async throws {
        try await WorldKind.playFake { _, checks in
            let hosts = ["203.0.113.7", "203.0.113.8", nil]
            let one = try SharingTests.questions(3, hosts, checks)
            let many = try SharingTests.questions(300, hosts, checks)
            checks.expect(many, is: one)
            let single = try SharingTests.questions(1, ["203.0.113.7"], checks)
            checks.expect(try SharingTests.questions(50, ["203.0.113.7", "::ffff:203.0.113.7"], checks), is: single)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `five hundred managers share one monitor`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let managers = try (0..<500).map { try world.manager(of: $0 % 2 == 0 ? nil : "203.0.113.7") }
            for manager in managers {
                manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            }
            checks.expect(in: world, listener.values.count, becomes: 500)
            try world.apply(.lose)
            checks.expect(in: world, listener.values.count, becomes: 1000)
            checks.expect(listener.values.count { $0 == .notReachable }, is: 500)
            // Each manager returns the statistics of the shared monitor.
            checks.expect(in: world, Set(managers.map(\.statistics.messages)).count, becomes: 1)
            checks.expect(Set(managers.map { ObjectIdentifier($0.record.monitor) }).count, is: 1)
            checks.expect(Set(managers.map { ObjectIdentifier($0.record) }).count, is: 2)
        }
    }

    @Test func `managers of different namespaces share no monitor`() async throws {
        try await WorldKind.real.play { world, checks in
            let other = try RealWorld()
            defer { other.close() }
            try world.apply(Change.ipv4Uplink)
            let (manager, otherManager) = (try world.manager(), try other.manager())
            checks.expect(manager.status, is: .wired)
            checks.expect(otherManager.status, is: .notReachable)
            checks.expect(manager.record.monitor !== otherManager.record.monitor, "one monitor for two namespaces")
        }
    }
}
