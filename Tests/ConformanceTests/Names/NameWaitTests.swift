import KernelLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

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

    @Test func aMonitorOfManyWaitsOutsideOfTasks() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    @Test func anAddressAsksNobody() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
            let manager = try NameWaitTests.manager(world, "203.0.113.7", waiting: .seconds(60))
            checks.expect(manager.status, is: .wired)
            checks.expect(world.resolver.questionCount(of: "203.0.113.7"), is: 0)
        }
    }

    @Test func aListenersFirstCallWaitsForTheName() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

    @Test func whenTheTimeIsUpTheFirstCallIsUnknown() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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

/// Tasks share their threads: none of them is held up by the name service.
@Suite struct NameWaitInTaskTests {
    private let kernel = FakeKernel()
    private let resolver = FakeResolver()

    init() {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
        resolver.set("example.org", addresses: ["203.0.113.7"])
        resolver.hold("example.org")
    }

    @Test func aPropertyDoesNotWait() async throws {
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

    @Test func aMonitorOfManyDoesNotWait() async throws {
        var options = NetworkReachabilityOptions()
        options.nameResolutionWait = .seconds(1000)
        let environment = MonitorEnvironment(kernel: kernel, clock: kernel.clock, resolver: resolver)
        let monitor = NetworkReachabilityMonitor(monitor: PathMonitor(environment: environment), options: options)
        try monitor.insert("example.org")
        #expect(monitor.path(to: "example.org")?.reason == .resolving)
    }

    @Test func theCurrentPathWaits() async throws {
        let manager = try NetworkReachabilityManager(host: "example.org", kernel: kernel, resolver: resolver)
        async let path = manager.currentPath()
        resolver.release("example.org")
        #expect(await path.status == .reachable(.ethernetOrWiFi))
        #expect(manager.status == .reachable(.ethernetOrWiFi))
    }
}
