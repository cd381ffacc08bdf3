import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Lookups are repeated with the source that was found only where a policy rule looks at sources.
@Suite struct SourceRuleTests {
    @Test func lookupsAreRepeatedWhileARuleLooksAtSources() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let (manager, listener) = try world.listeningManager()
            world.flush()
            /// How many routes are looked up when the default route comes back.
            func lookups() throws -> Int {
                try world.apply(.lose)
                world.flush()
                let before = world.kernel.lookupCount
                try world.apply(.regain)
                world.flush()
                return world.kernel.lookupCount - before
            }
            // A majority of eight.
            checks.expect(try lookups(), is: 5)
            // Rules that look at something else change nothing.
            try world.apply(.addRule(RuleChange(priority: 90, mark: 7, .prohibit)))
            world.flush()
            checks.expect(try lookups(), is: 5)
            try world.apply(.addRule(RuleChange(from: "198.51.100.0/24", .prohibit)))
            world.flush()
            checks.expect(try lookups(), is: 10)
            try world.apply(.removeRule(.ipv4, priority: 100))
            world.flush()
            checks.expect(try lookups(), is: 5)
            checks.expect(listener.values.last, is: .wired)
            withExtendedLifetime(manager) {}
        }
    }

    /// Whoever asks right after a rule was added is not answered by what was known before.
    @Test func whoAsksDoesNotMissARule() async throws {
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

    /// A rule that is lost in an overrun is found.
    @Test func anOverrunForgetsTheRules() async throws {
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
