import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// What a monitor counts.
@Suite struct StatisticsTests {
    @Test func everythingIsCountedOnce() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let listener = Listener()
            let (manager, other) = (try world.manager(), try world.manager(of: "203.0.113.7"))
            checks.expect(manager.statistics, is: MonitorStatistics())
            _ = manager.status
            checks.expect(manager.statistics.lookups, is: UInt64(world.kernel.lookupCount))
            checks.expect(manager.statistics.evaluations, is: 0)
            for manager in [manager, other] {
                manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            }
            world.flush()
            checks.expect(listener.values, is: [.wired, .wired])
            // Those who begin at the same time may be looked at together.
            let before = manager.statistics.evaluations
            checks.expect((1...2).contains(before), "\(before) evaluations")
            checks.expect(manager.statistics.evaluatedTargets, is: 2)
            checks.expect(manager.statistics.listenerCalls, is: 2)
            checks.expect(manager.statistics.lag.count, is: 0)
            try world.apply(.lose)
            world.kernel.sendForeignMessage()
            world.flush()
            checks.expect(listener.values.count, is: 4)
            let statistics = manager.statistics
            checks.expect(statistics.messages, is: 1)
            checks.expect(statistics.irrelevantMessages, is: 0)
            checks.expect(statistics.foreignMessages, is: 1)
            checks.expect(statistics.overruns, is: 0)
            checks.expect(statistics.evaluations, is: before + 1)
            checks.expect(statistics.evaluatedTargets, is: 4)
            checks.expect(statistics.lookups, is: UInt64(world.kernel.lookupCount))
            checks.expect(statistics.listenerCalls, is: 4)
            checks.expect(statistics.lag.count, is: 2)
            checks.expect(other.statistics, is: statistics)
        }
    }

    @Test func lagEndsWhenTheListenerIsCalledOnItsQueue() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.settle()
            listener.queue.suspend()
            try world.apply(.lose)
            world.flush()
            world.clock.advance(by: .milliseconds(5))
            checks.expect(manager.statistics.lag.count, is: 0)
            listener.queue.resume()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(manager.statistics.lag.count, is: 1)
            checks.expect(manager.statistics.lag.min, is: .milliseconds(5))
        }
    }

    @Test func lagBeginsWhenTheNotificationIsNoticed() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let manager = try world.manager()
            let heard = RecordingListener<NetworkPath>()
            let token = manager.addPathListener(for: .flags, onQueue: nil, heard.record)
            world.settle()
            world.monitor.queue.suspend()
            try world.apply(.lose)
            world.clock.advance(by: .milliseconds(3))
            world.monitor.queue.resume()
            world.flush()
            checks.expect(heard.count, is: 2)
            checks.expect(manager.statistics.lag.max, is: .milliseconds(3))
            withExtendedLifetime(token) {}
        }
    }

    @Test func elementsOfSequencesCountAsCalls() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let manager = try world.manager()
            let reader = Reader(manager.statuses)
            defer { reader.task.cancel() }
            checks.expect(in: world, reader.read.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, reader.read.values, becomes: [.wired, .notReachable])
            world.flush()
            checks.expect(manager.statistics.listenerCalls, is: 2)
            checks.expect(manager.statistics.lag.count, is: 1)
        }
    }

    @Test func whatATimerTellsHasNoLag() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.cable() + [.route(RouteChange("::/0", via: "fd01::1").expiring(after: 60))])
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.clock.advance(by: .seconds(61))
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(manager.statistics.listenerCalls, is: 2)
            checks.expect(manager.statistics.lag.count, is: 0)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func everyCallThatANotificationLedToIsMeasured(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            checks.expect(in: world, listener.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            try world.apply(.regain)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable, .wired])
            let statistics = manager.statistics
            checks.expect(statistics.listenerCalls, is: 3)
            checks.expect(statistics.lag.count, is: 2)
            checks.expect(statistics.messages >= 2, "\(statistics)")
            checks.expect(statistics.lookups > 0, "\(statistics)")
        }
    }
}
