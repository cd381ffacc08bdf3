import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Questions that went out before the network changed.
@Suite struct StuckQuestionTests {
    private static let name = "example.org"

    /// Many times, for the answer and the timer that asks again run on threads of their own.
    @Test func aStuckQuestionIsOvertakenAfterAChange() async throws {
        try await WorldKind.playFake { _, checks in
            for _ in 0..<100 { try StuckQuestionTests.play(FakeWorld(), checks) }
        }
    }

    private static func play(_ world: FakeWorld, _ checks: Checks) throws {
        world.resolver.hold(name)
        try world.apply(Change.ipv4Uplink)
        let manager = try world.manager(of: name)
        let listener = Listener()
        manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
        world.flush()
        checks.expect(world.resolver.waitingCount(of: name), is: 1)
        world.clock.advance(by: .seconds(5))
        try world.apply(.add("c1"))
        world.settle()
        // One more may be asked beside the one that is stuck, no third.
        checks.expect(world.resolver.waitingCount(of: name), is: 2)
        try world.apply(.add("c2"))
        world.settle()
        world.settle()
        checks.expect(world.resolver.waitingCount(of: name), is: 2)
        world.resolver.set(name, addresses: ["203.0.113.7"])
        world.resolver.release(name)
        world.settle()
        world.settle()
        checks.expect(listener.values, is: [.unknown, .wired])
        checks.expect(world.resolver.questionCount(of: name), is: 3)
        // And it goes on being refreshed.
        world.clock.advance(by: .seconds(300))
        world.flush()
        checks.expect(world.resolver.questionCount(of: name), is: 4)
    }
}
