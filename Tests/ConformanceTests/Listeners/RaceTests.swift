import Dispatch
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Beginnings and ends at the same moment.
@Suite struct RaceTests {
    @Test(arguments: ["203.0.113.7", "example.org"])
    func beginningsAndEndsFromTwoThreadsLeaveNothingBehind(host: String) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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
            listener.heard.removeAll()
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.notReachable])
        }
    }

    @Test(arguments: WorldKind.allCases)
    func questionsFromManyThreadsAgreeWithTheListener(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
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
            checks.expect(zip(values, values.dropFirst()).allSatisfy { $0 != $1 }, "told twice: \(values)")
        }
    }
}
