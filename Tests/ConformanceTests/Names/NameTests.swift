import KernelLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Host names with a simulated name service and clock.
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

    @Test func `the status of a name is unknown until it is resolved`() async throws {
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

    /// The answer and the start of listening compete for the monitor's queue.
    @Test func `a fast answer during the start is not a failure of the kernel`() async throws {
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

    @Test func `failed lookups are repeated at increasing intervals`() async throws {
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

    @Test func `a name is looked up again at its refresh interval`() async throws {
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
            // An unreachable name service does not invalidate earlier answers.
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

    @Test func `a name is looked up again after changes of the network or the configuration`() async throws {
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
            // A name is looked up at most once a second.
            world.resolver.set(NameTests.name, addresses: ["203.0.113.7"])
            world.resolver.changeConfiguration()
            world.flush()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 2)
            world.clock.advance(by: .seconds(1))
            world.flush()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 3)
            checks.expect(scene.listener.values.last, is: .wired)
            // An unrelated route does not cause a lookup.
            world.clock.advance(by: .seconds(10))
            try world.apply(.route(RouteChange("198.51.100.0/24", .blackhole)))
            world.settle()
            checks.expect(world.resolver.questionCount(of: NameTests.name), is: 3)
        }
    }
}

/// The maximum wait of a caller for a name.
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

    @Test func `a name in the hosts file needs no wait`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
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

    @Test func `the first query waits at most for the configured time`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
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

    @Test func `outside of tasks a query of a monitor waits`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.hold(NameWaitTests.name)
            var options = NetworkReachabilityOptions()
            options.nameResolutionWait = .milliseconds(50)
            let targets = try world.targets(options: options)
            try targets.insert(NameWaitTests.name)
            let started = ContinuousClock.now
            checks.expect(targets.path(to: NameWaitTests.name)?.reason, is: .resolving)
            checks.expect(ContinuousClock.now - started >= .milliseconds(50), "did not wait")
        }
    }

    @Test func `an address needs no name service`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try NameWaitTests.manager(world, "203.0.113.7", waiting: .seconds(60))
            checks.expect(manager.status, is: .wired)
            checks.expect(world.resolver.questionCount(of: "203.0.113.7"), is: 0)
        }
    }

    @Test func `the first call of a listener waits for the name`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set(NameWaitTests.name, addresses: ["203.0.113.7"])
            world.resolver.hold(NameWaitTests.name)
            let (patient, impatient) = (
                try NameWaitTests.manager(world, waiting: .seconds(2)),
                try NameWaitTests.manager(world, waiting: .zero)
            )
            let listeners = [Listener(), Listener(), Listener()]
            patient.startListening(onQueue: listeners[0].queue, onUpdatePerforming: listeners[0].record)
            let token = patient.addListener(onQueue: listeners[1].queue, listeners[1].record)
            impatient.startListening(onQueue: listeners[2].queue, onUpdatePerforming: listeners[2].record)
            world.flush()
            checks.expect(listeners.map(\.values), is: [[], [], [.unknown]])
            world.pass(.seconds(1))
            checks.expect(listeners.map(\.values), is: [[], [], [.unknown]])
            world.resolver.release(NameWaitTests.name)
            world.flush()
            checks.expect(listeners.map(\.values), is: [[.wired], [.wired], [.unknown, .wired]])
            world.pass(.seconds(2))
            checks.expect(listeners.map(\.values), is: [[.wired], [.wired], [.unknown, .wired]])
            token.cancel()
        }
    }

    @Test func `the first call reports unknown if the name is not resolved in time`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set(NameWaitTests.name, addresses: ["203.0.113.7"])
            world.resolver.hold(NameWaitTests.name)
            let manager = try NameWaitTests.manager(world, waiting: .seconds(2))
            let listener = Listener()
            manager.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
            world.flush()
            world.pass(.milliseconds(1900))
            checks.expect(listener.values, is: [])
            world.pass(.milliseconds(200))
            checks.expect(listener.values, is: [.unknown])
            world.resolver.release(NameWaitTests.name)
            world.flush()
            checks.expect(listener.values, is: [.unknown, .wired])
        }
    }
}

/// Queries in tasks. Tasks share their threads, so a query must not block one of them.
@Suite struct NameWaitInTaskTests {
    private let kernel = FakeKernel.connected()
    private let resolver = FakeResolver()

    init() {
        resolver.set("example.org", addresses: ["203.0.113.7"])
        resolver.hold("example.org")
    }

    @Test func `in a task a property does not wait`() async throws {
        var options = NetworkReachabilityOptions()
        options.nameResolutionWait = .seconds(1000)
        let manager = try NetworkReachabilityManager(
            host: "example.org",
            kernel: kernel,
            resolver: resolver,
            options: options
        )
        #expect(manager.path.reason == .resolving)
    }

    @Test func `in a task a query of a monitor does not wait`() async throws {
        var options = NetworkReachabilityOptions()
        options.nameResolutionWait = .seconds(1000)
        let environment = MonitorEnvironment(kernel: kernel, clock: kernel.clock, resolver: resolver)
        let monitor = NetworkReachabilityMonitor(monitor: PathMonitor(environment: environment), options: options)
        try monitor.insert("example.org")
        #expect(monitor.path(to: "example.org")?.reason == .resolving)
    }

    @Test func `currentPath waits for the name without blocking a thread`() async throws {
        let manager = try NetworkReachabilityManager(host: "example.org", kernel: kernel, resolver: resolver)
        async let path = manager.currentPath()
        resolver.release("example.org")
        #expect(await path.status == .reachable(.ethernetOrWiFi))
        #expect(manager.status == .reachable(.ethernetOrWiFi))
    }
}

/// Lookups that were sent before the network changed.
@Suite struct StuckQuestionTests {
    private static let name = "example.org"

    /// The test is repeated, because the answer and the timer run in different threads.
    @Test func `after a change one more lookup is started beside a hanging one`() async throws {
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
        // At most one lookup is started beside a hanging one.
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
        // The name is still refreshed.
        world.clock.advance(by: .seconds(300))
        world.flush()
        checks.expect(world.resolver.questionCount(of: name), is: 4)
    }
}
