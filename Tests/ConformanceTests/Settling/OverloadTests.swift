import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// A storm, and listeners that are slow: what is held back stays bounded, and the end is right.
@Suite struct OverloadTests {
    @Test func aStormLeavesOneTimerAndOnePath() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let listeners = (0..<3).map { _ in Listener() }
            let manager = try world.manager()
            let policies: [SettlePolicy] = [
                .settled(for: .seconds(2)), .settled(for: .seconds(3)), .settled(for: .milliseconds(3500)),
            ]
            let tokens = zip(policies, listeners)
                .map { manager.addListener(settle: $0, onQueue: $1.queue, $1.record) }
            world.flush()
            for round in 0..<300 {
                try world.flap()
                if round % 50 == 0 { world.pass(.milliseconds(10)) }
                // One for each subscription, the trailing look and the end of flapping.
                checks.expect(world.clock.scheduledCount <= 5, "\(world.clock.scheduledCount) timers")
            }
            try world.change(.lose)
            world.pass(.seconds(4))
            for listener in listeners { checks.expect(listener.values, is: [.wired, .notReachable]) }
            checks.expect(manager.flapCount, is: 100)
            for token in tokens { token.cancel() }
            world.flush()
            checks.expect(world.clock.scheduledCount, is: 0)
        }
    }

    /// A listener inside the monitor that ends itself with its first settled news.
    @Test func theEndInsideASettledListener() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (own, other) = (RecordingListener<NetworkReachabilityStatus>(), Listener())
            let manager = try world.manager()
            let tokens = RecordingListener<NetworkReachabilityToken>()
            let policy = SettlePolicy.settled(for: .seconds(1))
            tokens.record(
                manager.addPathListener(for: .status, settle: policy, onQueue: nil) { path in
                    own.record(path.status)
                    if path.status == .notReachable { tokens.last?.cancel() }
                }
            )
            let witness = manager.addListener(settle: policy, onQueue: other.queue, other.record)
            world.flush()
            try world.change(.lose)
            world.pass(.seconds(1))
            try world.change(.regain)
            world.pass(.seconds(1))
            checks.expect(own.values, is: [.wired, .notReachable])
            checks.expect(other.values, is: [.wired, .notReachable, .wired])
            checks.expect(world.clock.scheduledCount, is: 0)
            witness.cancel()
        }
    }
}
