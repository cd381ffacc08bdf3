import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// How long questions about names may take whoever asks them.
@Suite struct NameWaitTests {
    private static let name = "example.org"

    private static func manager(
        _ world: FakeWorld,
        _ host: String = name,
        waiting wait: Duration
    ) throws -> NetworkReachabilityManager {
        var options = NetworkReachabilityOptions()
        options.nameResolutionWait = wait
        return try world.manager(of: host, options: options)
    }

    @Test func theHostsFileNeverWaits() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.resolver.setHosts(NameWaitTests.name, addresses: ["203.0.113.7"])
            world.resolver.hold(NameWaitTests.name)
            let patient = try NameWaitTests.manager(world, waiting: .seconds(60))
            let started = ContinuousClock.now
            checks.expect(patient.status, is: .wired)
            checks.expect(ContinuousClock.now - started < .seconds(20), "waited for what the hosts file knows")
            let impatient = try NameWaitTests.manager(world, waiting: .zero)
            checks.expect(impatient.status, is: .wired)
            let local = try NameWaitTests.manager(world, "localhost", waiting: .zero)
            checks.expect(local.flags, is: [.reachable, .isLocalAddress])
            world.flush()
            checks.expect(local.flags, is: [.reachable, .isLocalAddress])
        }
    }

    @Test func theFirstQuestionWaitsAsLongAsItMay() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            world.resolver.hold(NameWaitTests.name)
            let impatient = try NameWaitTests.manager(world, waiting: .zero)
            checks.expect(impatient.path.reason, is: .resolving)
            let bounded = try NameWaitTests.manager(world, waiting: .milliseconds(50))
            let started = ContinuousClock.now
            checks.expect(bounded.status, is: .unknown)
            let waited = ContinuousClock.now - started
            checks.expect(waited >= .milliseconds(50) && waited < .seconds(20), "waited \(waited)")
            checks.expect(world.resolver.questionCount(of: NameWaitTests.name), is: 1)
            world.resolver.set(NameWaitTests.name, addresses: ["203.0.113.7"])
            world.resolver.release(NameWaitTests.name)
            let patient = try NameWaitTests.manager(world, waiting: .seconds(60))
            checks.expect(patient.status, is: .wired)
        }
    }

    @Test func anAddressAsksNobody() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let manager = try NameWaitTests.manager(world, "203.0.113.7", waiting: .seconds(60))
            checks.expect(manager.status, is: .wired)
            checks.expect(world.resolver.questionCount(of: "203.0.113.7"), is: 0)
        }
    }
}
