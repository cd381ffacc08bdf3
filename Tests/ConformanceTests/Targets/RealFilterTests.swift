import Dispatch
import Logging
import Netlink
import NetworkLab
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

/// The socket filter of a real kernel. It drops unrelated messages and passes relevant ones.
@Suite struct RealFilterTests {
    /// The maximum number of link messages, which may arrive up to a second late.
    private static let lateMessages: UInt64 = 20
    private static let hosts = ["192.0.2.1", "2001:db8::1"]
    private static let covering = RouteChange("192.0.2.0/24", .blackhole)

    /// Runs a test in a real world with an uplink.
    private static func play(_ body: @escaping @Sendable (RealWorld, Checks) throws -> Void) async throws {
        try await WorldKind.real.play(Change.uplink) { world, checks in
            guard let world = world as? RealWorld else { throw LabError("no real world") }
            try body(world, checks)
        }
    }

    @Test(arguments: [true, false])
    func `with a filter unrelated routes cause no messages`(isFiltered: Bool) async throws {
        try await Self.play { world, checks in
            var options = NetworkReachabilityOptions()
            options.filtersRouteMessages = isFiltered
            let targets = try world.targets(options: options)
            try targets.setHosts(Self.hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.received.count, becomes: 2)
            let before = targets.statistics
            try world.batch(
                (0..<1500).flatMap { number in
                    let route = RouteChange("198.18.\(number / 250).\(number % 250)/32", via: "10.1.0.1")
                    return [Change.addRoute(route), .removeRoute(route)]
                }
            )
            try world.apply(.addRoute(Self.covering))
            checks.expect(in: world, recorder.latest["192.0.2.1"], becomes: .notReachable)
            let after = targets.statistics
            let messages = after.messages - before.messages
            if isFiltered {
                checks.expect((1...1 + Self.lateMessages).contains(messages), "\(messages) messages")
                checks.expect(after.overruns, is: before.overruns)
            } else {
                checks.expect(messages > 1000 || after.overruns > 0, "\(messages) messages")
            }
            try world.apply(.removeRoute(Self.covering), .addRoute(RouteChange("2001:db8::/33", .prohibit)))
            checks.expect(in: world, recorder.latest, becomes: ["192.0.2.1": .wired, "2001:db8::1": .notReachable])
            checks.expect(recorder.received.count, is: 5)
            token.cancel()
        }
    }

    @Test func `hosts that are added while their routes change have the correct state`() async throws {
        try await Self.play { world, checks in
            let (targets, recorder, token) = try world.recordedTargets(Self.hosts)
            checks.expect(in: world, recorder.received.count, becomes: 2)
            let routes = (1...60).map { RouteChange("198.51.100.\($0)/32", .blackhole) }
            let storm = (0..<10).flatMap { _ in routes.map { Change.addRoute($0) } + routes.map { .removeRoute($0) } }
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 {
                    // At the end every second host is unreachable.
                    let last = routes.enumerated().filter { $0.offset % 2 == 1 }.map { Change.addRoute($0.element) }
                    try? world.batch(storm + last)
                } else {
                    for number in 1...60 { _ = try? targets.insert("198.51.100.\(number)") }
                }
            }
            checks.expect(in: world, recorder.latest, becomes: targets.asked)
            checks.expect(recorder.latest.values.count { $0 == .notReachable }, is: 30)
            checks.expect(recorder.latest.count, is: 62)
            token.cancel()
        }
    }

    @Test func `routes to a later address of a name are received`() async throws {
        try await Self.play { world, checks in
            let resolver = FakeResolver()
            resolver.set("a.example", addresses: ["192.0.2.1"])
            let reference = try NetworkNamespace.path(world.client.path).makeReference()
            let monitor = PathMonitor(
                environment: MonitorEnvironment(
                    kernel: LinuxKernel(namespace: reference),
                    clock: SystemMonitorClock(),
                    resolver: resolver
                )
            )
            let targets = NetworkReachabilityMonitor(monitor: monitor, options: NetworkReachabilityOptions())
            try targets.insert("a.example")
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.histories["a.example"]?.last, becomes: .wired)
            try world.apply(.addRoute(RouteChange("198.51.100.0/24", .unreachable)))
            resolver.set("a.example", addresses: ["198.51.100.1"])
            resolver.changeConfiguration()
            checks.expect(in: world, recorder.histories["a.example"]?.last, becomes: .notReachable)
            // Changes of routes to the new address are received.
            try world.apply(.removeRoute(RouteChange("198.51.100.0/24", .unreachable)))
            checks.expect(in: world, recorder.histories["a.example"]?.last, becomes: .wired)
            checks.expect(recorder.histories["a.example"]?.suffix(3), is: [.wired, .notReachable, .wired])
            token.cancel()
        }
    }

    @Test func `without kernel memory for a filter all messages are received`() async throws {
        try await Self.play { world, checks in
            // The setting is per namespace since Linux 6.8.
            guard (try? world.client.sysctl("net.core.optmem_max", "256")) != nil else { return }
            let log = RecordingLog.warnings()
            var options = NetworkReachabilityOptions()
            options.logger = log.logger
            let targets = try world.targets(options: options)
            try targets.setHosts((1...40).map { "198.51.100.\($0)" } + Self.hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.received.count, becomes: 42)
            for host in 1...10 { try targets.insert("203.0.113.\(host * 7)") }
            checks.expect(in: world, recorder.received.count, becomes: 52)
            checks.expect(log.lines, is: ["cannot filter route messages; all of them are received"])
            try world.apply(.addRoute(RouteChange("203.0.113.7/32", .blackhole)), .addRoute(Self.covering))
            checks.expect(in: world, recorder.latest["203.0.113.7"], becomes: .notReachable)
            checks.expect(in: world, recorder.latest["192.0.2.1"], becomes: .notReachable)
            token.cancel()
        }
    }

    /// Hosts behind a tunnel depend on the path to its far end.
    @Test func `routes to the far end of a tunnel affect the hosts behind it`() async throws {
        try await Self.play { world, checks in
            try world.apply(
                .add("vx0", .vxlan, over: "c0"),
                .address("10.50.0.2/24", on: "vx0"),
                .addRoute(RouteChange("203.0.113.0/24", via: "10.50.0.1"))
            )
            let (targets, recorder, token) = try world.recordedTargets(["192.0.2.1"])
            checks.expect(in: world, recorder.latest, becomes: ["192.0.2.1": .wired])
            // A host that is added later depends on the tunnel.
            try targets.insert("203.0.113.7")
            checks.expect(in: world, recorder.latest["203.0.113.7"]?.isReachable, becomes: true)
            for _ in 0..<3 {
                try world.apply(.addRoute(RouteChange("10.1.0.9/32", .unreachable)))
                checks.expect(in: world, recorder.latest["203.0.113.7"], becomes: .notReachable)
                try world.apply(.removeRoute(RouteChange("10.1.0.9/32", .unreachable)))
                checks.expect(in: world, recorder.latest["203.0.113.7"]?.isReachable, becomes: true)
            }
            checks.expect(recorder.histories["192.0.2.1"], is: [.wired])
            token.cancel()
        }
    }
}

/// Lost messages of a real kernel at the start of listening, during changes of targets, and at the end.
@Suite struct RealOverrunTests {
    /// Changes that affect every host of 192.0.2.0/24, more than fit into a socket's buffer.
    private static let storm: [Change] = {
        let routes = (1...3000).map { RouteChange("192.0.2.0/24", metric: $0, .blackhole) }
        return routes.map { .addRoute($0) } + routes.map { .removeRoute($0) }
    }()

    /// Returns the number of route netlink sockets of processes.
    private static func sockets(in world: RealWorld) throws -> Int {
        try world.client.perform { try ListedSocket.all() }.count { $0.family == 0 && $0.port != 0 }
    }

    @Test func `overruns at the start, during changes and at the end lose no change`() async throws {
        try await WorldKind.real.play(Change.ipv4Uplink) { world, checks in
            guard let world = world as? RealWorld else { throw LabError("no real world") }
            let hosts = (1...30).map { "192.0.2.\($0)" }
            var overruns: UInt64 = 0
            for phase in ["start", "change", "end"] {
                let targets = try world.targets(phase == "start" ? [] : hosts)
                let (recorder, gate) = (ChangeRecorder(), DispatchSemaphore(value: 0))
                let entered = RecordingListener<Void>()
                let token = targets.listen(recorder)
                if phase != "start" { checks.expect(in: world, recorder.latest.count, becomes: 30) }
                // A listener without a queue blocks the monitor, so that the socket's buffer overflows.
                let holder = try world.targets(["192.0.2.100"])
                let held = holder.addListener(onQueue: nil) { _ in
                    entered.record(())
                    if entered.count == 1 { gate.wait() }
                }
                checks.expect(entered.waitForCount(1, timeout: .seconds(30)), "there is no listener")
                if phase == "start" { try targets.setHosts(hosts) }
                try world.batch(Self.storm)
                switch phase {
                case "change": try targets.setHosts((21...50).map { "192.0.2.\($0)" })
                case "end":
                    token.cancel()
                    held.cancel()
                default: break
                }
                try world.apply(.addRoute(RouteChange("192.0.2.0/26", .prohibit)))
                gate.signal()
                if phase == "end" {
                    // A new listener receives the current state.
                    let (later, last) = (ChangeRecorder(), try world.targets(hosts))
                    let token = last.listen(later)
                    checks.expect(in: world, later.latest.count, becomes: 30)
                    checks.expect(later.latest.values.allSatisfy { $0 == .notReachable }, "a wrong beginning")
                    token.cancel()
                } else {
                    let watched = Set(targets.hosts)
                    checks.expect(
                        in: world,
                        recorder.latest.filter { watched.contains($0.key) && $0.value == .notReachable }.count,
                        becomes: 30
                    )
                    token.cancel()
                    held.cancel()
                }
                overruns += targets.statistics.overruns
                try world.apply(.removeRoute(RouteChange("192.0.2.0/26", .prohibit)))
            }
            checks.expect(overruns > 0, "nothing ran over")
            checks.expect(in: world, try? Self.sockets(in: world), becomes: 0)
        }
    }

    /// Monitors and managers are created and released while covering routes change.
    @Test func `listeners can start and stop during many changes`() async throws {
        try await WorldKind.real.play(Change.ipv4Uplink) { world, checks in
            guard let world = world as? RealWorld else { throw LabError("no real world") }
            let isOver = RecordingListener<Void>()
            DispatchQueue.concurrentPerform(iterations: 3) { thread in
                if thread == 0 {
                    for _ in 0..<2 { try? world.batch(Self.storm) }
                    isOver.record(())
                }
                var rounds = 0
                while thread > 0, isOver.count == 0, rounds < 2000 {
                    rounds += 1
                    guard let targets = try? world.targets((1...20).map { "192.0.2.\($0 * thread)" }) else { continue }
                    let (recorder, listener) = (ChangeRecorder(), Listener())
                    let token = targets.listen(recorder)
                    let manager = try? world.manager(of: "192.0.2.\(thread)")
                    manager?.startListening(onQueue: listener.queue, onUpdatePerforming: listener.record)
                    if rounds % 2 == 0 { _ = targets.remove("192.0.2.\(thread)") }
                    if rounds % 3 == 0 { recorder.received.waitForCount(1, timeout: .seconds(60)) }
                    if rounds % 4 == 0 { token.cancel() }
                }
            }
            let (_, recorder, token) = try world.recordedTargets(["192.0.2.1"])
            checks.expect(in: world, recorder.latest["192.0.2.1"], becomes: .wired)
            try world.apply(.addRoute(RouteChange("192.0.2.0/26", .prohibit)))
            checks.expect(in: world, recorder.latest["192.0.2.1"], becomes: .notReachable)
            token.cancel()
        }
    }
}
