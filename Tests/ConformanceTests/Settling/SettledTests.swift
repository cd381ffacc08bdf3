import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The policy `.settled(for:)`, which reports only states that have lasted.
@Suite struct SettledTests {
    private static let policy = SettlePolicy.settled(for: .seconds(2))

    @Test func `the first state is reported at once, and a change after it has lasted`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let manager = try world.manager()
            let token = manager.addListener(settle: SettledTests.policy, onQueue: listener.queue, listener.record)
            world.flush()
            checks.expect(listener.values, is: [.wired])
            checks.expect(world.clock.scheduledCount, is: 0)
            try world.change(.lose)
            world.pass(.milliseconds(1999))
            checks.expect(listener.values, is: [.wired])
            checks.expect(manager.status, is: .notReachable)
            world.pass(.milliseconds(1))
            checks.expect(listener.values, is: [.wired, .notReachable])
            checks.expect(world.clock.scheduledCount, is: 0)
            try world.change(.regain)
            world.pass(.seconds(2))
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
            checks.expect(listener.misplaced.count, is: 0)
            token.cancel()
        }
    }

    @Test func `a change that is reverted in time is not reported`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let manager = try world.manager()
            let token = manager.addListener(settle: SettledTests.policy, onQueue: listener.queue, listener.record)
            world.flush()
            for _ in 0..<2 {
                try world.change(.lose)
                world.pass(.milliseconds(1900))
                try world.change(.regain)
                world.pass(.milliseconds(500))
                checks.expect(world.clock.scheduledCount, is: 0)
            }
            world.pass(.seconds(10))
            checks.expect(listener.values, is: [.wired])
            token.cancel()
        }
    }

    @Test func `another change restarts the settle time`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let ways = RecordingListener<NetworkPath>()
            let manager = try world.manager()
            let token = manager.addPathListener(
                for: .egress,
                settle: SettledTests.policy,
                onQueue: listener.queue,
                ways.record
            )
            world.flush()
            for gateway in ["10.1.0.7", "10.1.0.8", "10.1.0.9"] {
                try world.change(.replaceRoute(RouteChange("0.0.0.0/0", via: gateway)))
                world.pass(.milliseconds(1500))
            }
            checks.expect(ways.count, is: 1)
            world.pass(.milliseconds(500))
            listener.queue.sync {}
            checks.expect(ways.values.map(\.gateway?.description), is: ["10.1.0.1", "10.1.0.9"])
            token.cancel()
        }
    }

    /// Another reason is not another status. The settle time continues, and the latest path is reported.
    @Test func `an irrelevant change does not restart the settle time`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let paths = RecordingListener<NetworkPath>()
            let manager = try world.manager()
            let token = manager.addPathListener(
                for: .status,
                settle: SettledTests.policy,
                onQueue: listener.queue,
                paths.record
            )
            world.flush()
            try world.change(.lose)
            world.pass(.milliseconds(1500))
            try world.change(.addRoute(RouteChange("0.0.0.0/0", .prohibit)))
            world.pass(.milliseconds(500))
            listener.queue.sync {}
            checks.expect(paths.values.map(\.reason), is: [nil, .prohibited])
            token.cancel()
        }
    }

    @Test func `cancelling a token during the settle time removes its timer`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (listener, other) = (Listener(), Listener())
            let manager = try world.manager()
            let token = manager.addListener(settle: SettledTests.policy, onQueue: listener.queue, listener.record)
            let witness = manager.addListener(onQueue: other.queue, other.record)
            world.flush()
            try world.change(.lose)
            world.pass(.seconds(1))
            checks.expect(world.clock.scheduledCount, is: 1)
            checks.expect(listener.values, is: [.wired])
            token.cancel()
            world.flush()
            checks.expect(world.clock.scheduledCount, is: 0)
            world.pass(.seconds(5))
            checks.expect(listener.values, is: [.wired])
            checks.expect(other.values, is: [.wired, .notReachable])
            witness.cancel()
        }
    }

    @Test func `releasing the last token during the settle time ends listening`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let manager = try world.manager()
            var token: NetworkReachabilityToken? = manager.addListener(
                settle: SettledTests.policy,
                onQueue: listener.queue,
                listener.record
            )
            world.flush()
            checks.expect(listener.values, is: [.wired])
            try world.change(.lose)
            checks.expect(token != nil, "no token")
            token = nil
            world.flush()
            checks.expect(world.clock.scheduledCount, is: 0)
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.seconds(5))
            checks.expect(listener.values, is: [.wired])
        }
    }

    @Test func `each subscription of a target has its own policy`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let policies: [SettlePolicy] = [
                .immediate, .settled(for: .zero), .settled(for: .seconds(-1)), .settled(for: .seconds(1)),
                .settled(for: .seconds(5)), .settled(for: .seconds(Int64.max)),
            ]
            let listeners = policies.map { _ in Listener() }
            let manager = try world.manager()
            let tokens = zip(policies, listeners)
                .map { manager.addListener(settle: $0, onQueue: $1.queue, $1.record) }
            func expectCounts(_ counts: [Int]) { checks.expect(listeners.map(\.values.count), is: counts) }
            world.flush()
            expectCounts([1, 1, 1, 1, 1, 1])
            try world.change(.lose)
            expectCounts([2, 2, 2, 1, 1, 1])
            world.pass(.seconds(1))
            expectCounts([2, 2, 2, 2, 1, 1])
            world.pass(.seconds(1))
            expectCounts([2, 2, 2, 2, 1, 1])
            try world.change(.regain)
            expectCounts([3, 3, 3, 2, 1, 1])
            world.pass(.seconds(10))
            expectCounts([3, 3, 3, 3, 1, 1])
            checks.expect(world.clock.scheduledCount, is: 0)
            for token in tokens { token.cancel() }
        }
    }

    /// A lost message, or sleep, must not cause the report of an old state.
    @Test func `the state is evaluated again when the settle time ends`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listener = Listener()
            let manager = try world.manager()
            let token = manager.addListener(settle: SettledTests.policy, onQueue: listener.queue, listener.record)
            world.flush()
            try world.change(.lose)
            world.pass(.seconds(1))
            try world.kernel.overrunSilently { try world.apply(.regain) }
            world.pass(.seconds(10))
            checks.expect(listener.values, is: [.wired])
            token.cancel()
        }
    }

    @Test func `the state after unknown is reported at once`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set("example.org", addresses: ["203.0.113.7"])
            world.resolver.hold("example.org")
            let listeners = (Listener(), Listener())
            var options = NetworkReachabilityOptions()
            options.nameResolutionWait = .zero
            let manager = try world.manager(of: "example.org", options: options)
            let tokens = [
                manager.addListener(settle: SettledTests.policy, onQueue: listeners.0.queue, listeners.0.record),
                manager.addListener(
                    settle: .settled(for: .seconds(60)),
                    onQueue: listeners.1.queue,
                    listeners.1.record
                ),
            ]
            world.flush()
            checks.expect(listeners.0.values, is: [.unknown])
            world.resolver.release("example.org")
            world.flush()
            checks.expect(listeners.0.values, is: [.unknown, .wired])
            checks.expect(listeners.1.values, is: [.unknown, .wired])
            for token in tokens { token.cancel() }
        }
    }

    @Test func `sequences support settle policies`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let (statuses, flags, paths) = (
                Reader(manager.statuses(settle: SettledTests.policy)),
                Reader(manager.flagChanges(settle: SettledTests.policy)),
                Reader(manager.paths(settle: SettledTests.policy))
            )
            defer { for task in [statuses.task, flags.task, paths.task] { task.cancel() } }
            func wait(_ count: Int) {
                checks.expect(statuses.read.waitForCount(count), "too few statuses")
                checks.expect(flags.read.waitForCount(count), "too few flags")
                checks.expect(paths.read.waitForCount(count), "too few paths")
            }
            wait(1)
            try world.change(.lose)
            world.pass(.seconds(1))
            try world.change(.regain)
            world.pass(.seconds(5))
            try world.change(.lose)
            world.pass(.seconds(2))
            wait(2)
            checks.expect(statuses.read.values, is: [.wired, .notReachable])
            checks.expect(flags.read.values, is: [.reachable, []])
            checks.expect(paths.read.values.map(\.reason), is: [nil, .noRoute])
        }
    }

    /// With real time, a short change is not reported and a lasting change is.
    @Test func `only a lasting change of a real network is reported`() async throws {
        try await WorldKind.real.play(Change.ipv4Uplink) { world, checks in
            let (listener, witness) = (Listener(), Listener())
            let manager = try world.manager()
            let policy = SettlePolicy.settled(for: .seconds(8))
            let tokens = [
                manager.addListener(settle: policy, onQueue: listener.queue, listener.record),
                manager.addListener(onQueue: witness.queue, witness.record),
            ]
            checks.expect(in: world, witness.values, becomes: [.wired])
            try world.apply(.lose)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable])
            try world.apply(.regain)
            checks.expect(in: world, witness.values, becomes: [.wired, .notReachable, .wired])
            let start = ContinuousClock.now
            try world.apply(.lose)
            checks.expect(in: world, listener.values, becomes: [.wired, .notReachable])
            checks.expect(ContinuousClock.now - start >= .seconds(8), "reported too early")
            for token in tokens { token.cancel() }
        }
    }
}
