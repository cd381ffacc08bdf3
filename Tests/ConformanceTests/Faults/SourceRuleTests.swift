import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Rules on the source of packets, which only a lookup with that source meets.
@Suite struct SourceRuleTests {
    /// Although nobody has heard of it.
    @Test func whoAsksRightAfterARuleWasAdded() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, _) = try world.listeningManager()
            world.flush()
            try world.kernel.overrun {
                try world.apply(.addRule(RuleChange(from: "10.1.0.0/24", .prohibit)))
                checks.expect(manager.status, is: .notReachable)
            }
        }
    }

    @Test func aRuleThatIsLostInAnOverrunIsFound() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            try world.kernel.overrun { try world.apply(.addRule(RuleChange(from: "10.1.0.0/24", .prohibit))) }
            world.flush()
            checks.expect(listener.values, is: [.wired, .notReachable])
            withExtendedLifetime(manager) {}
        }
    }
}
