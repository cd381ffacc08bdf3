import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Random histories, reproducible by seed, received under every policy and compared with a model.
@Suite struct SettleModelTests {
    private static let policies: [SettlePolicy] = [
        .immediate, .settled(for: .milliseconds(1)), .settled(for: .milliseconds(700)), .settled(for: .seconds(3)),
    ]

    @Test(arguments: UInt64(1)...8)
    func `listeners receive the same as a model of their policy`(seed: UInt64) async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + [.add("w0", .rawIP), .address("10.60.0.2/24", on: "w0")])
            let manager = try world.manager()
            let received = SettleModelTests.policies.map { _ in RecordingListener<SettleModel.Entry>() }
            let tokens = zip(SettleModelTests.policies, received)
                .map { policy, received in
                    manager.addPathListener(for: .status, settle: policy, onQueue: nil) { path in
                        received.record(SettleModel.Entry(time: world.clock.monotonic, status: path.status))
                    }
                }
            world.flush()
            var models = SettleModelTests.policies.map { SettleModel($0, at: world.clock.monotonic, .wired) }
            var (flaps, status) = (FlapModel(), NetworkReachabilityStatus.wired)
            var random = SettleHistory(seed: seed)
            for _ in 0..<60 {
                let milliseconds = random.pause()
                world.pass(.milliseconds(milliseconds))
                for index in models.indices { models[index].pass(milliseconds: milliseconds) }
                let next = random.status()
                try SettleModelTests.lead(world, from: status, to: next)
                if next != status { flaps.change(at: world.clock.monotonic) }
                status = next
                for index in models.indices { models[index].change(to: next) }
                let now = world.clock.monotonic
                checks.expect(manager.path.isFlapping, is: flaps.isFlapping(at: now))
                checks.expect(manager.flapCount, is: flaps.count(at: now))
            }
            world.pass(.seconds(100))
            for index in models.indices { models[index].pass(milliseconds: 100_000) }
            for (model, received) in zip(models, received) { checks.expect(received.values, is: model.received) }
            checks.expect(world.clock.scheduledCount, is: 0)
            for token in tokens { token.cancel() }
        }
    }

    /// Changes the network in one step so that its status becomes `next`, or makes an unrelated change.
    private static func lead(
        _ world: FakeWorld,
        from status: NetworkReachabilityStatus,
        to next: NetworkReachabilityStatus
    ) throws {
        let modem = RouteChange("0.0.0.0/0", on: "w0")
        switch (status, next) {
        case (.wired, .notReachable): try world.change(.lose)
        case (.notReachable, .wired): try world.change(.regain)
        case (.reachable, .notReachable): try world.change(.removeRoute(modem))
        case (.notReachable, .reachable): try world.change(.addRoute(modem))
        case (.wired, .reachable(.wwan)): try world.change(.replaceRoute(modem))
        case (.reachable(.wwan), .wired): try world.change(.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1")))
        default:
            try world.change(.addRoute(RouteChange("198.51.100.0/24", .blackhole)))
            try world.change(.removeRoute(RouteChange("198.51.100.0/24", .blackhole)))
        }
    }
}

/// A simple model of a status listener that advances by single milliseconds.
struct SettleModel {
    /// A received status and its time.
    struct Entry: Equatable, Sendable {
        let time: Duration
        let status: NetworkReachabilityStatus
    }

    private let policy: SettlePolicy
    private var now: Int
    private var status: NetworkReachabilityStatus
    /// The time since which the status is unchanged.
    private var sinceStatus: Int
    private(set) var received: [Entry]

    init(_ policy: SettlePolicy, at now: Duration, _ status: NetworkReachabilityStatus) {
        self.policy = policy
        self.now = Int(now / .milliseconds(1))
        self.status = status
        sinceStatus = self.now
        received = [Entry(time: now, status: status)]
    }

    mutating func pass(milliseconds: Int) {
        for _ in 0..<milliseconds {
            now += 1
            look()
        }
    }

    mutating func change(to status: NetworkReachabilityStatus) {
        if status != self.status { sinceStatus = now }
        self.status = status
        look()
    }

    private mutating func look() {
        guard let told = received.last?.status, status != told, isTold(after: told) else { return }
        received.append(Entry(time: .milliseconds(now), status: status))
    }

    private func isTold(after told: NetworkReachabilityStatus) -> Bool {
        switch policy {
        case .immediate: true
        case .settled(let duration): .milliseconds(now - sinceStatus) >= duration
        }
    }
}

/// Random pauses and statuses, reproducible by seed.
struct SettleHistory {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9e37_79b9_7f4a_7c15
    }

    mutating func pause() -> Int {
        switch draw(10) {
        case 0: 0
        case 1: 1000
        case 2: 2000
        case 3, 4: 1 + draw(20)
        case 5, 6: 200 + draw(800)
        case 7, 8: 900 + draw(2500)
        default: 5000 + draw(40_000)
        }
    }

    mutating func status() -> NetworkReachabilityStatus {
        [.wired, .notReachable, .reachable(.wwan), .notReachable, .wired][draw(5)]
    }

    /// Knuth's linear congruential generator. Only its high bits are used.
    private mutating func draw(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(limit))
    }
}
