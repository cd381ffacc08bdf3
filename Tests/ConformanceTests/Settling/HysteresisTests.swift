import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// `.hysteresis(failures:successes:)`: looks in a row, one each second.
@Suite struct HysteresisTests {
    private static let policy = SettlePolicy.hysteresis(failures: 3, successes: 2)

    private static func play(_ body: @escaping @Sendable (FakeWorld, Checks, Listener) throws -> Void) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let listener = Listener()
            let manager = try world.manager()
            let token = manager.addListener(settle: policy, onQueue: listener.queue, listener.record)
            world.flush()
            checks.expect(listener.values, is: [.wired])
            try body(world, checks, listener)
            checks.expect(world.clock.scheduledCount, is: 0)
            token.cancel()
        }
    }

    @Test func lossesAndGainsHaveCountsOfTheirOwn() async throws {
        try await HysteresisTests.play { world, checks, listener in
            try world.change(.lose)
            world.pass(.milliseconds(1999))
            checks.expect(listener.values, is: [.wired])
            world.pass(.milliseconds(1))
            checks.expect(listener.values, is: [.wired, .notReachable])
            try world.change(.regain)
            world.pass(.milliseconds(999))
            checks.expect(listener.values, is: [.wired, .notReachable])
            world.pass(.milliseconds(1))
            checks.expect(listener.values, is: [.wired, .notReachable, .wired])
        }
    }

    /// How many messages a change makes is an accident.
    @Test func messagesThatAgreeDoNotHurryTheCount() async throws {
        try await HysteresisTests.play { world, checks, listener in
            try world.change(.lose)
            for _ in 0..<5 { try world.change(.unplug("c0"), .plug("c0")) }
            world.pass(.milliseconds(1900))
            checks.expect(listener.values, is: [.wired])
            world.pass(.milliseconds(100))
            checks.expect(listener.values, is: [.wired, .notReachable])
        }
    }

    @Test func aContradictionBeginsTheCountAnew() async throws {
        try await HysteresisTests.play { world, checks, listener in
            for _ in 0..<2 {
                try world.change(.lose)
                world.pass(.milliseconds(1900))
                try world.change(.regain)
                world.pass(.milliseconds(200))
                checks.expect(world.clock.scheduledCount, is: 0)
            }
            checks.expect(listener.values, is: [.wired])
            try world.change(.lose)
            world.pass(.seconds(2))
            checks.expect(listener.values, is: [.wired, .notReachable])
        }
    }

    @Test func itLooksByItself() async throws {
        try await HysteresisTests.play { world, checks, listener in
            try world.change(.lose)
            world.pass(.milliseconds(500))
            let before = world.kernel.questionCount
            try world.kernel.overrunSilently { try world.apply(.regain) }
            world.pass(.milliseconds(500))
            checks.expect(world.kernel.questionCount > before, "nobody looked")
            checks.expect(world.clock.scheduledCount, is: 0)
            world.pass(.seconds(5))
            checks.expect(listener.values, is: [.wired])
        }
    }

    @Test func otherChangesAreToldAtOnce() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + [.add("w0", .rawIP), .address("10.60.0.2/24", on: "w0")])
            let listener = Listener()
            let ways = RecordingListener<NetworkPath>()
            let manager = try world.manager()
            let token = manager.addPathListener(
                for: .way,
                settle: HysteresisTests.policy,
                onQueue: listener.queue,
                ways.record
            )
            world.flush()
            try world.change(.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.9")))
            try world.change(.replaceRoute(RouteChange("0.0.0.0/0", on: "w0")))
            listener.queue.sync {}
            checks.expect(ways.values.map(\.interface?.name), is: ["c0", "c0", "w0"])
            checks.expect(ways.values.map(\.status), is: [.wired, .wired, .reachable(.wwan)])
            token.cancel()
        }
    }
}
