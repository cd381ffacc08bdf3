import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The socket that listens fails for good: that is told, and another takes its place.
@Suite struct UnreadableTests {
    @Test func whatCannotBeReadIsUnknownUntilAnotherSocketListens() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            world.kernel.failListening()
            world.flush()
            checks.expect(listener.values, is: [.wired, .unknown])
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.milliseconds(100))
            checks.expect(listener.values, is: [.wired, .unknown, .wired])
            checks.expect(world.kernel.listenerCount, is: 1)
            // Where it fails again and again, it is tried less and less often.
            world.kernel.failListening()
            world.flush()
            world.pass(.milliseconds(100))
            checks.expect(world.kernel.listenerCount, is: 0)
            world.pass(.milliseconds(100))
            checks.expect(world.kernel.listenerCount, is: 1)
            // And changes are heard of again.
            try world.apply(.lose)
            world.flush()
            checks.expect(listener.values, is: [.wired, .unknown, .wired, .unknown, .wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }
}
