import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Changes that are caused by the passing of time.
@Suite struct TimeTests {
    @Test func `an expired route is detected without a notification`() async throws {
        try await WorldKind.playFake { world, checks in
            let route = RouteChange("::/0", via: "fd01::1").expiring(after: 600)
            try world.apply(Change.cable() + [.route(route)])
            let (manager, listener) = try world.listeningManager()
            world.settle()
            world.clock.advance(by: .seconds(598))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            // A router advertisement extends the lifetime by ten minutes.
            try world.apply(.replaceRoute(route))
            world.settle()
            world.clock.advance(by: .seconds(598))
            world.flush()
            checks.expect(listener.values, is: [.wired])
            world.clock.advance(by: .seconds(2))
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }

    @Test func `all targets are evaluated immediately after sleep`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set("example.org", addresses: ["203.0.113.7"])
            let (listener, other) = (Listener(), Listener())
            let (manager, named) = (try world.manager(), try world.manager(of: "example.org"))
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            named.startListening(onQueue: other.queue, onUpdatePerforming: other.record)
            world.settle()
            world.flush()
            checks.expect(other.values.last, is: .wired)
            world.clock.advance(by: .seconds(10))
            let questions = world.resolver.questionCount(of: "example.org")
            // Changes during sleep send no notification.
            try world.kernel.overrunSilently { try world.apply(.unplug("c0")) }
            world.resolver.set("example.org", addresses: ["10.1.0.2"])
            world.clock.sleep(for: .seconds(3600))
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.resolver.questionCount(of: "example.org"), is: questions + 1)
            checks.expect(other.values.last, is: .wired)
            checks.expect(named.flags, is: [.reachable, .isLocalAddress])
        }
    }

    @Test func `each step of a batch that swaps routes is reported`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink + Change.cable("c1", 2)) { world, checks in
            let listener = Listener()
            let paths = RecordingListener<NetworkPath>()
            let manager = try world.manager()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            let token = manager.addPathListener(onQueue: listener.queue, paths.record)
            world.settle()
            for (from, to) in [("10.1.0.1", "10.2.0.1"), ("10.2.0.1", "10.1.0.1")] {
                try world.batch([
                    .removeRoute(RouteChange("0.0.0.0/0", via: from)), .route(RouteChange("0.0.0.0/0", via: to)),
                ])
                world.settle()
            }
            checks.expect(listener.values, is: [.wired, .notReachable, .wired, .notReachable, .wired])
            checks.expect(paths.values.compactMap { $0.interface?.name }, is: ["c0", "c1", "c0"])
            checks.expect(paths.count, is: 5)
            // The same applies to rules.
            try world.apply(.addRule(RuleChange(.lookUp(254))))
            world.settle()
            try world.batch([.removeRule(.ipv4, priority: 100), .addRule(RuleChange(.lookUp(254)))])
            world.settle()
            let before = listener.values.count
            try world.batch([.lose, .regain, .lose])
            world.flush()
            checks.expect(Array(listener.values.dropFirst(before)), is: [.notReachable, .wired, .notReachable])
            token.cancel()
        }
    }

    /// The steps of a real batch may be too fast to be reported separately.
    @Test func `a real batch that swaps routes reports at most its steps`() async throws {
        try await WorldKind.real.play(Change.ipv4Uplink + Change.cable("c1", 2)) { world, checks in
            let (manager, listener) = try world.listeningManager()
            checks.expect(in: world, listener.values, becomes: [.wired])
            try world.batch([.lose, .route(RouteChange("0.0.0.0/0", via: "10.2.0.1"))])
            checks.expect(PathLine(manager.path).description, is: PathCase.hostThroughSecond)
            try world.apply(.removeRoute(RouteChange("0.0.0.0/0", via: "10.2.0.1")))
            checks.expect(in: world, listener.values.last, becomes: .notReachable)
            checks.expect([2, 4].contains(listener.values.count), "received \(listener.values)")
        }
    }
}

/// The statistics of a monitor.
@Suite struct StatisticsTests {
    @Test func `each message, evaluation and call is counted once`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
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
            // Targets that start at the same time may share an evaluation.
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

    @Test func `the lag ends when the listener is called on its queue`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
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

    @Test func `the lag begins when the notification is received`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let received = RecordingListener<NetworkPath>()
            let token = manager.addPathListener(for: .flags, onQueue: nil, received.record)
            world.settle()
            world.monitor.queue.suspend()
            try world.apply(.lose)
            world.clock.advance(by: .milliseconds(3))
            world.monitor.queue.resume()
            world.flush()
            checks.expect(received.count, is: 2)
            checks.expect(manager.statistics.lag.max, is: .milliseconds(3))
            withExtendedLifetime(token) {}
        }
    }

    @Test func `elements of sequences count as calls`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
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

    @Test func `a change that a timer detects has no lag`() async throws {
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
    func `the lag of each call that follows a notification is measured`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
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
