import Dispatch
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Many hosts in one monitor: what is told of which.
@Suite struct TargetTests {
    private static let hosts = ["192.0.2.1", "192.0.2.2", "198.51.100.1", "203.0.113.1", "2001:db8::1"]
    private static let covering = RouteChange("192.0.2.0/24", .blackhole)

    @Test(arguments: WorldKind.allCases)
    func theFirstStateOfEachHost(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink + [.addRoute(RouteChange("198.51.100.0/24", .unreachable))])
            let targets = try world.targets(TargetTests.hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
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
    func aRouteConcernsThoseItCovers(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.uplink)
            let targets = try world.targets(TargetTests.hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.received.count, becomes: 5)
            world.settle()
            let before = targets.statistics.evaluatedTargets
            // A real kernel may tell late of the uplink, which concerns all.
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
            // Once for the message, and once when it has been quiet.
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
    func aLinkConcernsAll(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.uplink)
            let targets = try world.targets(TargetTests.hosts)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
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
    func hostsComeAndGoWhileListening(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets()
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(try targets.insert("192.0.2.1"), is: true)
            checks.expect(try targets.insert("192.0.2.1"), is: false)
            checks.expect(in: world, recorder.lines.count, becomes: 1)
            checks.expect(targets.remove("192.0.2.1"), is: true)
            checks.expect(targets.remove("192.0.2.1"), is: false)
            try world.apply(.addRoute(TargetTests.covering))
            // What it is when it comes again, as news.
            try targets.insert("192.0.2.1")
            checks.expect(in: world, recorder.histories["192.0.2.1"], becomes: [.wired, .notReachable])
            try targets.setHosts(["192.0.2.2", "203.0.113.1", "192.0.2.2"])
            checks.expect(in: world, recorder.latest["203.0.113.1"], becomes: .wired)
            checks.expect(in: world, recorder.latest["192.0.2.2"], becomes: .notReachable)
            try world.apply(.removeRoute(TargetTests.covering))
            checks.expect(in: world, recorder.latest["192.0.2.2"], becomes: .wired)
            checks.expect(recorder.histories["192.0.2.1"], is: [.wired, .notReachable])
            checks.expect(recorder.histories["203.0.113.1"], is: [.wired])
            // All or nothing.
            checks.expect((try? targets.setHosts(["192.0.2.3", "no host"])) == nil, "a text that is no host was taken")
            checks.expect(Set(targets.hosts), is: ["192.0.2.2", "203.0.113.1"])
            token.cancel()
        }
    }

    @Test(arguments: WorldKind.allCases)
    func theSameAgainIsToldAgain(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
            let targets = try world.targets(["192.0.2.1"])
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
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
    func oneAddressUnderTwoSpellings(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.uplink)
            let spellings = ["2001:db8::1", "2001:DB8:0:0::1", "2001:db8:0:0:0:0:0:1"]
            let targets = try world.targets(spellings)
            let recorder = ChangeRecorder()
            let token = targets.listen(recorder)
            checks.expect(in: world, recorder.lines.count, becomes: 3)
            try world.apply(.addRoute(RouteChange("2001:db8::/48", .blackhole)))
            checks.expect(in: world, recorder.lines.count, becomes: 6)
            checks.expect(Set(recorder.histories.keys), is: Set(spellings))
            // One goes, the others stay.
            targets.remove(spellings[0])
            try world.apply(.removeRoute(RouteChange("2001:db8::/48", .blackhole)))
            checks.expect(in: world, recorder.lines.count, becomes: 8)
            checks.expect(recorder.histories[spellings[0]]?.count, is: 2)
            token.cancel()
        }
    }

    @Test func namesAmongAddresses() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink)
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
            // It moves to where routes lead, and what concerned it does no more.
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
    func everyKindOfListenerHearsTheSame(kind: WorldKind) async throws {
        try await kind.play { world, checks in
            try world.apply(Change.ipv4Uplink)
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

/// A queue, and what is received on it of many hosts.
struct ChangeRecorder: Sendable {
    let queue = DispatchQueue(label: "ChangeRecorder")
    let received = RecordingListener<NetworkReachabilityChange>()

    @Sendable func record(_ change: NetworkReachabilityChange) {
        received.record(change)
    }

    /// Forgets what was received, that included which is being told at this moment.
    func forget() {
        queue.sync {}
        received.removeAll()
    }

    /// What was received of each host, once all that is under way on the queue has been delivered.
    var histories: [String: [NetworkReachabilityStatus]] {
        queue.sync {}
        return Dictionary(grouping: received.values, by: \.host).mapValues { $0.map(\.status) }
    }

    /// What was received last of each host.
    var latest: [String: NetworkReachabilityStatus] { histories.compactMapValues(\.last) }

    /// Everything received, as `host: status`, in its order.
    var lines: [String] {
        queue.sync {}
        return received.values.map { "\($0.host): \($0.status)" }
    }
}

extension NetworkReachabilityMonitor {
    /// Adds a listener of the status that is received on the recorder's queue.
    func listen(_ recorder: ChangeRecorder) -> NetworkReachabilityToken {
        addListener(onQueue: recorder.queue, recorder.record)
    }

    /// What each host's state is now, asked of the kernel.
    var asked: [String: NetworkReachabilityStatus] {
        hosts.reduce(into: [:]) { $0[$1] = path(to: $1)?.status }
    }
}

/// Writes warnings down.
struct WarningRecorder: LogHandler {
    let log: RecordingListener<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(_ log: RecordingListener<String>) {
        self.log = log
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let groups = event.metadata?["groups"].map { ": \($0)" } ?? ""
        log.record("\(event.message)\(groups)")
    }
}
