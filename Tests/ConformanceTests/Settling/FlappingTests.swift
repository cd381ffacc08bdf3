import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// Flapping: its start, its end and its reports.
@Suite struct FlappingTests {
    /// A listener of the whole path, and the received paths.
    private struct Reporter {
        let listener = Listener()
        private let paths = RecordingListener<NetworkPath>()
        let token: NetworkReachabilityToken

        init(
            _ manager: NetworkReachabilityManager,
            for interest: NetworkReachabilityInterest = .path,
            _ policy: SettlePolicy = .immediate
        ) {
            token = manager.addPathListener(for: interest, settle: policy, onQueue: listener.queue, paths.record)
        }

        /// The received paths, including pending calls on the queue.
        var received: [NetworkPath] {
            listener.queue.sync {}
            return paths.values
        }

        var flapping: [Bool] { received.map(\.isFlapping) }
    }

    @Test func `flapping begins with the sixth change and ends a minute after the last`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let (whole, flags) = (Reporter(manager), Reporter(manager, for: .flags))
            world.flush()
            for round in 1...3 {
                try world.change(.lose)
                world.pass(.seconds(5))
                checks.expect(manager.path.isFlapping, is: false)
                try world.change(.regain)
                world.pass(.seconds(5))
                checks.expect(manager.flapCount, is: round * 2)
            }
            checks.expect(whole.flapping, is: [false, false, false, false, false, false, true])
            checks.expect(manager.path.isFlapping, is: true)
            // The last change was five seconds ago.
            world.pass(.milliseconds(54_999))
            checks.expect(whole.flapping.count, is: 7)
            world.pass(.milliseconds(1))
            checks.expect(whole.flapping, is: [false, false, false, false, false, false, true, false])
            checks.expect(whole.received.last?.status, is: .wired)
            checks.expect(flags.flapping.count, is: 7)
            checks.expect(manager.path.isFlapping, is: false)
            checks.expect(manager.flapCount, is: 0)
            let generations = whole.received.map(\.generation)
            checks.expect(zip(generations, generations.dropFirst()).allSatisfy(<), "generations \(generations)")
            checks.expect(world.clock.scheduledCount, is: 0)
            withExtendedLifetime([whole.token, flags.token]) {}
        }
    }

    @Test func `further changes delay the end of flapping`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let whole = Reporter(manager)
            world.flush()
            for _ in 0..<3 { try world.flap() }
            // Too rare to start flapping, but frequent enough to continue it.
            for _ in 0..<5 {
                world.pass(.seconds(50))
                try world.change(.lose)
                world.pass(.seconds(50))
                try world.change(.regain)
            }
            checks.expect(manager.path.isFlapping, is: true)
            checks.expect(whole.flapping.suffix(11), is: ArraySlice(repeating: true, count: 11))
            world.pass(.seconds(60))
            checks.expect(whole.flapping.last, is: false)
            checks.expect(world.clock.scheduledCount, is: 0)
            withExtendedLifetime(whole.token) {}
        }
    }

    /// A flapping target never settles, so listeners with a settle policy must receive the reason.
    @Test func `flapping is reported under every settle policy`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let settled = Reporter(manager, .settled(for: .seconds(10)))
            let counted = Reporter(manager, .settled(for: .seconds(3)))
            let status = Reporter(manager, for: .status, .settled(for: .seconds(10)))
            world.flush()
            for _ in 0..<20 {
                try world.change(.lose)
                world.pass(.seconds(1))
                try world.change(.regain)
                world.pass(.seconds(1))
            }
            for reporter in [settled, counted] {
                checks.expect(reporter.flapping, is: [false, true])
                checks.expect(reporter.received.map(\.status), is: [.wired, .wired])
            }
            checks.expect(status.flapping, is: [false])
            world.pass(.seconds(59))
            for reporter in [settled, counted] {
                checks.expect(reporter.flapping, is: [false, true, false])
                checks.expect(reporter.received.map(\.status), is: [.wired, .wired, .wired])
            }
            checks.expect(world.clock.scheduledCount, is: 0)
            withExtendedLifetime([settled.token, counted.token, status.token]) {}
        }
    }

    /// Flapping begins during a settle time. The last reported state is reported again as flapping.
    @Test func `flapping is reported while another state has not settled`() async throws {
        try await WorldKind.playFake { world, checks in
            try world.apply(Change.ipv4Uplink + [.add("w0", .rawIP), .address("10.60.0.2/24", on: "w0")])
            let manager = try world.manager()
            let settled = Reporter(manager, .settled(for: .seconds(10)))
            let counted = Reporter(manager, .settled(for: .seconds(20)))
            let modem = RouteChange("0.0.0.0/0", on: "w0")
            world.flush()
            try world.change(.replaceRoute(modem))
            for _ in 0..<2 {
                try world.change(.removeRoute(modem))
                try world.change(.addRoute(modem))
            }
            checks.expect(manager.flapCount, is: 5)
            checks.expect(settled.flapping + counted.flapping, is: [false, false])
            try world.change(.removeRoute(modem))
            checks.expect(settled.flapping, is: [false, true])
            checks.expect(settled.received.map(\.status), is: [.wired, .wired])
            checks.expect(counted.flapping, is: [false, true])
            checks.expect(counted.received.map(\.status), is: [.wired, .wired])
            // The loss settles, and flapping ends, each at its own time.
            world.pass(.seconds(10))
            checks.expect(settled.received.map(\.status), is: [.wired, .wired, .notReachable])
            world.pass(.seconds(50))
            checks.expect(settled.flapping, is: [false, true, true, false])
            checks.expect(counted.flapping, is: [false, true, true, false])
            checks.expect(counted.received.last?.status, is: .notReachable)
            for reporter in [settled, counted] { reporter.token.cancel() }
            world.flush()
            checks.expect(world.clock.scheduledCount, is: 0)
        }
    }

    @Test func `changes that are not reported do not count as flapping`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let reporter = Reporter(manager)
            world.flush()
            // The route is replaced in one step, so there is no loss.
            for _ in 0..<10 {
                try world.apply(.replaceRoute(RouteChange("0.0.0.0/0", via: "10.1.0.1")))
                world.pass(.seconds(1))
            }
            checks.expect(manager.flapCount, is: 0)
            checks.expect(reporter.flapping, is: [false])
            withExtendedLifetime(reporter.token) {}
        }
    }

    @Test func `without listeners no timer waits for the end of flapping`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let reporter = Reporter(manager)
            world.flush()
            for _ in 0..<3 { try world.flap() }
            checks.expect(manager.path.isFlapping, is: true)
            reporter.token.cancel()
            world.flush()
            checks.expect(world.clock.scheduledCount, is: 0)
            checks.expect(manager.path.isFlapping, is: true)
            // A new listener receives the end.
            let other = Reporter(manager)
            world.flush()
            checks.expect(other.flapping, is: [true])
            world.pass(.seconds(60))
            checks.expect(other.flapping, is: [true, false])
            withExtendedLifetime(other.token) {}
        }
    }

    @Test func `flapping ends also for queries without listeners`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let manager = try world.manager()
            let reporter = Reporter(manager)
            world.flush()
            for _ in 0..<3 { try world.flap() }
            reporter.token.cancel()
            world.pass(.milliseconds(59_999))
            checks.expect(manager.path.isFlapping, is: true)
            world.pass(.milliseconds(1))
            checks.expect(manager.path.isFlapping, is: false)
        }
    }
}

/// A simple model of flapping that stores all past changes.
struct FlapModel {
    private var changes: [Duration] = []
    private var isFlapping = false

    mutating func change(at now: Duration) {
        _ = isFlapping(at: now)
        changes.append(now)
        if count(at: now) >= 6 { isFlapping = true }
    }

    mutating func isFlapping(at now: Duration) -> Bool {
        if count(at: now) == 0 { isFlapping = false }
        return isFlapping
    }

    func count(at now: Duration) -> Int { changes.count { now - $0 < .seconds(60) } }
}

/// Many changes and slow listeners. The pending state is bounded, and the final state is correct.
@Suite struct OverloadTests {
    @Test func `many changes leave one timer and one path per listener`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let listeners = (0..<3).map { _ in Listener() }
            let manager = try world.manager()
            let policies: [SettlePolicy] = [
                .settled(for: .seconds(2)), .settled(for: .seconds(3)), .settled(for: .milliseconds(3500)),
            ]
            let tokens = zip(policies, listeners)
                .map { manager.addListener(settle: $0, onQueue: $1.queue, $1.record) }
            world.flush()
            for round in 0..<300 {
                try world.flap()
                if round % 50 == 0 { world.pass(.milliseconds(10)) }
                // One timer for each subscription, one for the trailing evaluation and one for the end of flapping.
                checks.expect(world.clock.scheduledCount <= 5, "\(world.clock.scheduledCount) timers")
            }
            try world.change(.lose)
            world.pass(.seconds(4))
            for listener in listeners { checks.expect(listener.values, is: [.wired, .notReachable]) }
            checks.expect(manager.flapCount, is: 100)
            for token in tokens { token.cancel() }
            world.flush()
            checks.expect(world.clock.scheduledCount, is: 0)
        }
    }

    /// A listener without a queue that ends itself at its first settled change.
    @Test func `a listener with a settle policy can cancel its own token`() async throws {
        try await WorldKind.playFake(Change.ipv4Uplink) { world, checks in
            let (own, other) = (RecordingListener<NetworkReachabilityStatus>(), Listener())
            let manager = try world.manager()
            let tokens = RecordingListener<NetworkReachabilityToken>()
            let policy = SettlePolicy.settled(for: .seconds(1))
            tokens.record(
                manager.addPathListener(for: .status, settle: policy, onQueue: nil) { path in
                    own.record(path.status)
                    if path.status == .notReachable { tokens.last?.cancel() }
                }
            )
            let witness = manager.addListener(settle: policy, onQueue: other.queue, other.record)
            world.flush()
            try world.change(.lose)
            world.pass(.seconds(1))
            try world.change(.regain)
            world.pass(.seconds(1))
            checks.expect(own.values, is: [.wired, .notReachable])
            checks.expect(other.values, is: [.wired, .notReachable, .wired])
            checks.expect(world.clock.scheduledCount, is: 0)
            witness.cancel()
        }
    }
}
