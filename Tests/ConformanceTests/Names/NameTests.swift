import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Host names, with a name service and a clock that tests play.
@Suite struct NameTests {
    /// A listener to `example.org` in a network with an uplink.
    private struct Scene {
        let listener = Listener()
        let manager: NetworkReachabilityManager

        init(_ world: FakeWorld, interval: Duration = .seconds(300)) throws {
            try world.apply(Change.ipv4Uplink)
            var options = NetworkReachabilityOptions()
            options.nameRefreshInterval = interval
            options.nameResolutionWait = .zero
            manager = try world.manager(of: "example.org", options: options)
        }

        func listen(_ world: FakeWorld) {
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
        }
    }

    private static let name = "example.org"

    @Test func aNameIsUnknownUntilItIsResolved() async throws {
        try await WorldKind.playFake { world, checks in
            world.resolver.hold(NameTests.name)
            let scene = try Scene(world)
            scene.listen(world)
            checks.expect(scene.listener.values, is: [.unknown])
            checks.expect(scene.manager.path.reason, is: .resolving)
            world.resolver.set(NameTests.name, addresses: ["2001:db8::7", "203.0.113.7"])
            world.resolver.release(NameTests.name)
            world.flush()
            checks.expect(scene.listener.values, is: [.unknown, .wired])
            checks.expect(scene.manager.path.destination, is: IPAddress("203.0.113.7"))
        }
    }

    /// The answer and the beginning race for the monitor's queue.
    @Test func aFastAnswerIsNoFaultOfTheKernel() async throws {
        try await WorldKind.playFake { _, checks in
            for _ in 0..<200 {
                let world = FakeWorld()
                world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
                let scene = try Scene(world)
                scene.listen(world)
                checks.expect(scene.listener.values.last, is: .wired)
                checks.expect(world.clock.timeToNextAction, is: .seconds(300))
            }
        }
    }

    @Test func failuresAreFollowedByGrowingPauses() async throws {
        try await WorldKind.playFake { world, checks in
            world.resolver.fail(NameTests.name)
            let scene = try Scene(world)
            scene.listen(world)
            checks.expect(scene.manager.path.reason, is: .nameNotResolved)
            checks.expect(scene.listener.values.last, is: .notReachable)
            var count = 1
            for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
                checks.expect(world.clock.timeToNextAction, is: .seconds(pause))
                world.clock.advance(by: .seconds(pause))
                world.flush()
                count += 1
                checks.expect(world.resolver.questionCount(of: NameTests.name), is: count)
            }
            world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
            world.clock.advance(by: .seconds(60))
            world.flush()
            checks.expect(scene.listener.values.last, is: .wired)
            checks.expect(world.clock.timeToNextAction, is: .seconds(300))
        }
    }

    @Test func aNameIsRefreshedAtItsInterval() async throws {
        try await WorldKind.playFake { world, checks in
            world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
            let scene = try Scene(world, interval: .seconds(30))
            scene.listen(world)
            checks.expect(scene.listener.values.last, is: .wired)
            world.resolver.set(NameTests.name, addresses: ["2001:db8::7"])
            world.clock.advance(by: .seconds(29))
            world.flush()
            checks.expect(scene.listener.values.last, is: .wired)
            world.clock.advance(by: .seconds(1))
            world.flush()
            checks.expect(scene.listener.values.last, is: .notReachable)
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 2)
            // A name service out of reach does not undo what it said before.
            world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
            world.clock.advance(by: .seconds(30))
            world.resolver.fail(NameTests.name)
            world.clock.advance(by: .seconds(30))
            world.flush()
            checks.expect(scene.listener.values.last, is: .wired)
            world.resolver.fail(NameTests.name, .noSuchName)
            world.clock.advance(by: .seconds(60))
            world.flush()
            checks.expect(scene.listener.values.last, is: .notReachable)
        }
    }

    @Test func changesOfTheNetworkAndOfTheConfigurationAskAgain() async throws {
        try await WorldKind.playFake { world, checks in
            world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
            let scene = try Scene(world)
            scene.listen(world)
            world.clock.advance(by: .seconds(10))
            world.flush()
            world.resolver.set(NameTests.name, addresses: ["2001:db8::7"])
            try world.apply(.add("c1"))
            world.flush()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 2)
            checks.expect(scene.listener.values.last, is: .notReachable)
            // At most once a second.
            world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
            world.resolver.changeConfiguration()
            world.flush()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 2)
            world.clock.advance(by: .seconds(1))
            world.flush()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 3)
            checks.expect(scene.listener.values.last, is: .wired)
            // A route to elsewhere does not.
            world.clock.advance(by: .seconds(10))
            try world.apply(.route(RouteChange("198.51.100.0/24", .blackhole)))
            world.settle()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 3)
        }
    }
}
