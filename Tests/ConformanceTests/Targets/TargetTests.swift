import Dispatch
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

/// Many hosts in one monitor, and the reports of each host.
@Suite struct TargetTests {
    private static let hosts = ["192.0.2.1", "192.0.2.2", "198.51.100.1", "203.0.113.1", "2001:db8::1"]
    private static let covering = RouteChange("192.0.2.0/24", .blackhole)

    @Test(arguments: WorldKind.allCases)
    func `the first state of each host is reported`(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink + [.addRoute(RouteChange("198.51.100.0/24", .unreachable))])
            let (targets, recorder, token) = try world.recordedTargets(TargetTests.hosts)
            let expected: [String: [NetworkReachabilityStatus]] = [
                "192.0.2.1": [.wired], "192.0.2.2": [.wired], "198.51.100.1": [.notReachable],
                "203.0.113.1": [.wired], "2001:db8::1": [.notReachable],
            ]
            checks.expect(in: world, recorder.histories, becomes: expected)
            checks.expect(targets.asked, is: recorder.latest)
            checks.expect(targets.path(to: "192.0.2.9") == nil, "a path to a host that is not watched")
            checks.expect(Set(targets.hosts), is: Set(TargetTests.hosts))
            checks.expect(targets.count, is: 5)
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a route affects only the hosts that it covers`(kind: WorldKind) async throws {
        try await kind.play(Change.uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets(TargetTests.hosts)
            checks.expect(in: world, recorder.received.count, becomes: 5)
            world.settle()
            let before = targets.statistics.evaluatedTargets
            // A real kernel may report the uplink late, which affects all hosts.
            func looked(atMost count: UInt64) -> Bool {
                kind == .real || targets.statistics.evaluatedTargets - before <= count
            }
            recorder.forget()
            try world.apply(.addRoute(TargetTests.covering))
            let lost: [String: [NetworkReachabilityStatus]] = [
                "192.0.2.1": [.notReachable], "192.0.2.2": [.notReachable],
            ]
            checks.expect(in: world, recorder.histories, becomes: lost)
            world.settle()
            // One evaluation follows the message, and the trailing evaluation follows later.
            checks.expect(looked(atMost: 4), "others were looked at")
            try world.apply(.addRoute(RouteChange("10.99.0.0/16", .blackhole)), .removeRoute(TargetTests.covering))
            checks.expect(in: world, recorder.received.count, becomes: 4)
            world.settle()
            checks.expect(looked(atMost: 8), "others were looked at")
            checks.expect(Set(recorder.histories.keys), is: ["192.0.2.1", "192.0.2.2"])
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a change of the link affects all hosts`(kind: WorldKind) async throws {
        try await kind.play(Change.uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets(TargetTests.hosts)
            checks.expect(in: world, recorder.received.count, becomes: 5)
            try world.apply(.down("c0"))
            checks.expect(in: world, recorder.received.count, becomes: 10)
            checks.expect(recorder.histories.values.allSatisfy { $0 == [.wired, .notReachable] }, "not each once")
            try world.apply([.up("c0")] + Change.defaults(Change.addRoute).prefix(1))
            checks.expect(in: world, recorder.latest, becomes: targets.asked)
            checks.expect(recorder.latest["192.0.2.1"], is: .wired)
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `hosts can be added and removed while listening`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets()
            checks.expect(try targets.insert("192.0.2.1"), is: true)
            checks.expect(try targets.insert("192.0.2.1"), is: false)
            checks.expect(in: world, recorder.lines.count, becomes: 1)
            checks.expect(targets.remove("192.0.2.1"), is: true)
            checks.expect(targets.remove("192.0.2.1"), is: false)
            try world.apply(.addRoute(TargetTests.covering))
            // The state is reported when the host is added again.
            try targets.insert("192.0.2.1")
            checks.expect(in: world, recorder.histories["192.0.2.1"], becomes: [.wired, .notReachable])
            try targets.setHosts(["192.0.2.2", "203.0.113.1", "192.0.2.2"])
            checks.expect(in: world, recorder.latest["203.0.113.1"], becomes: .wired)
            checks.expect(in: world, recorder.latest["192.0.2.2"], becomes: .notReachable)
            try world.apply(.removeRoute(TargetTests.covering))
            checks.expect(in: world, recorder.latest["192.0.2.2"], becomes: .wired)
            checks.expect(recorder.histories["192.0.2.1"], is: [.wired, .notReachable])
            checks.expect(recorder.histories["203.0.113.1"], is: [.wired])
            // An invalid host leaves the hosts unchanged.
            checks.expect((try? targets.setHosts(["192.0.2.3", "no host"])) == nil, "a text that is no host was taken")
            checks.expect(Set(targets.hosts), is: ["192.0.2.2", "203.0.113.1"])
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `a host that is removed and added again is reported again`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let (targets, recorder, token) = try world.recordedTargets(["192.0.2.1"])
            checks.expect(in: world, recorder.lines.count, becomes: 1)
            for round in 2...5 {
                targets.remove("192.0.2.1")
                try targets.insert("192.0.2.1")
                checks.expect(in: world, recorder.lines.count, becomes: round)
            }
            try world.apply(.lose)
            checks.expect(in: world, recorder.lines.count, becomes: 6)
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `each spelling of an address is a separate host`(kind: WorldKind) async throws {
        try await kind.play(Change.uplink) { world, checks in
            let spellings = ["2001:db8::1", "2001:DB8:0:0::1", "2001:db8:0:0:0:0:0:1"]
            let (targets, recorder, token) = try world.recordedTargets(spellings)
            checks.expect(in: world, recorder.lines.count, becomes: 3)
            try world.apply(.addRoute(RouteChange("2001:db8::/48", .blackhole)))
            checks.expect(in: world, recorder.lines.count, becomes: 6)
            checks.expect(Set(recorder.histories.keys), is: Set(spellings))
            // One spelling is removed, the others remain.
            targets.remove(spellings[0])
            try world.apply(.removeRoute(RouteChange("2001:db8::/48", .blackhole)))
            checks.expect(in: world, recorder.lines.count, becomes: 8)
            checks.expect(recorder.histories[spellings[0]]?.count, is: 2)
            token.cancel()
        }
    }

    @Test func `a name follows the routes of its current address`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            world.resolver.set("a.example", addresses: ["192.0.2.1"])
            var options = NetworkReachabilityOptions()
            options.nameResolutionWait = .zero
            let targets = try world.targets(options: options)
            try targets.setHosts(["a.example", "b.example", "192.0.2.1", "203.0.113.1"])
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            world.flush()
            checks.expect(recorder.latest["a.example"], is: .wired)
            checks.expect(recorder.latest["b.example"], is: .notReachable)
            try world.apply(.addRoute(TargetTests.covering))
            world.flush()
            checks.expect(recorder.latest["a.example"], is: .notReachable)
            checks.expect(recorder.latest["192.0.2.1"], is: .notReachable)
            // The name changes to a reachable address. Routes to the earlier address no longer affect it.
            world.resolver.set("a.example", addresses: ["198.51.100.1"])
            world.clock.advance(by: .seconds(301))
            world.flush()
            checks.expect(recorder.latest["a.example"], is: .wired)
            let evaluated = targets.statistics.evaluatedTargets
            try world.apply(.removeRoute(TargetTests.covering))
            world.flush()
            checks.expect(targets.statistics.evaluatedTargets, is: evaluated + 1)
            try world.apply(.addRoute(RouteChange("198.51.100.1/32", .prohibit)))
            world.flush()
            checks.expect(recorder.latest["a.example"], is: .notReachable)
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `each kind of listener receives the same changes`(kind: WorldKind) async throws {
        try await kind.play(Change.ipv4Uplink) { world, checks in
            let targets = try world.targets(["192.0.2.1", "203.0.113.1"])
            let (queued, direct, read) = (ChangeRecorder(), ChangeRecorder(), ChangeRecorder())
            let tokens = [targets.listen(queued), targets.addListener(onQueue: nil, direct.record)]
            let changes = targets.changes
            let reader = Task { for await change in changes { read.record(change) } }
            let recorders = [queued, direct, read]
            for recorder in recorders { checks.expect(in: world, recorder.received.count, becomes: 2) }
            for (count, change) in [(3, Change.addRoute(TargetTests.covering)), (4, .lose), (5, .regain)] {
                try world.apply(change)
                for recorder in recorders { checks.expect(in: world, recorder.received.count, becomes: count) }
            }
            for recorder in recorders {
                checks.expect(recorder.histories["192.0.2.1"], is: [.wired, .notReachable])
                checks.expect(recorder.histories["203.0.113.1"], is: [.wired, .notReachable, .wired])
            }
            reader.cancel()
            for token in tokens { token.cancel() }
        }
    }
}

/// A queue, and the changes of many hosts that are received on it.
struct ChangeRecorder: Sendable {
    let queue = DispatchQueue(label: "ChangeRecorder")
    let received = RecordingListener<NetworkReachabilityChange>()

    @Sendable func record(_ change: NetworkReachabilityChange) {
        received.record(change)
    }

    /// Removes the received changes, including pending calls.
    func forget() {
        queue.sync {}
        received.removeAll()
    }

    /// The received statuses of each host, including pending calls on the queue.
    var histories: [String: [NetworkReachabilityStatus]] {
        queue.sync {}
        return Dictionary(grouping: received.values, by: \.host).mapValues { $0.map(\.status) }
    }

    /// The last received status of each host.
    var latest: [String: NetworkReachabilityStatus] { histories.compactMapValues(\.last) }

    /// All received changes in order, as `host: status`.
    var lines: [String] {
        queue.sync {}
        return received.values.map { "\($0.host): \($0.status)" }
    }
}

extension NetworkReachabilityMonitor {
    /// Adds a listener of the status on the recorder's queue.
    func listen(_ recorder: ChangeRecorder) -> NetworkReachabilityToken {
        addListener(onQueue: recorder.queue, recorder.record)
    }

    /// The current status of each host, queried from the kernel.
    var asked: [String: NetworkReachabilityStatus] {
        hosts.reduce(into: [:]) { $0[$1] = path(to: $1)?.status }
    }
}

extension RecordingLog {
    /// Returns a log of warnings and the groups that they name.
    static func warnings() -> RecordingLog {
        RecordingLog(level: .warning) { "\($0.message)\($0.metadata?["groups"].map { ": \($0)" } ?? "")" }
    }
}
