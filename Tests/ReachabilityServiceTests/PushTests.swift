import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// Targets that send pushes, and paused targets.
@Suite struct PushTests {
    private static let settings = PushSettings(interval: .seconds(3600), grace: .seconds(300))
    private static let backup = ServiceTarget(name: "backup", host: nil, push: settings)
    private static let up = TargetState(.up, basis: .checks)
    private static let missing = TargetState(.them, .push, basis: .checks)
    private static let awaiting = TargetState(.unknown, .undecided)

    /// A service with a fake kernel and clock, and the target `backup`.
    private final class World: ServiceWorld {
        let kernel = FakeKernel.connected()
        let manager: NetworkReachabilityManager
        let service: MonitoringService

        init() throws {
            let manager = try NetworkReachabilityManager(kernel: kernel)
            self.manager = manager
            service = MonitoringService(
                clock: .fake(kernel.clock),
                makeProber: { _, _ in SilentProber() },
                makeManager: { _ in manager }
            )
            try service.apply([PushTests.backup])
            flush()
        }

        func current(_ name: String = "backup") -> LedgerInterval? {
            service.snapshot.accounting.accounts[name]?.ledger.current
        }

        func advance(_ time: Duration) {
            kernel.clock.advance(by: time)
            flush()
        }

        /// Ends a check of the target `internet`.
        func find(_ place: String, _ reason: String) {
            guard let turn = service.state.withLock({ $0.checks["internet"]?.turn }) else {
                Issue.record("the target is not checked")
                return
            }
            kernel.clock.advance(by: .seconds(1))
            let (now, finding) = (kernel.clock.boot, CheckFinding(place, reason, sentence: reason))
            _ = service.take(finding, of: "internet", turn, from: now, to: now)
            flush()
        }

        /// Sends a push that the service accepts.
        func push(isUp: Bool = true, _ message: String? = nil) {
            guard case .accepted = service.push("backup", isUp: isUp, message: message) else {
                Issue.record("a push was not accepted")
                return
            }
            flush()
        }
    }

    @Test func `a target is unknown before its first push, up after it, and down when a push is missing`() throws {
        let world = try World()
        world.advance(.seconds(10_000))
        #expect(world.current()?.state == Self.awaiting)
        world.push()
        #expect(world.current()?.state == Self.up)
        #expect(world.total(.unknown, of: "backup") == .seconds(10_000))
        world.advance(.seconds(3600))
        world.push()
        let last = world.service.snapshot.now
        world.advance(.seconds(3899))
        #expect(world.current()?.state == Self.up)
        world.advance(.seconds(61))
        let current = try #require(world.current())
        #expect(current.state == Self.missing)
        #expect(current.reason == "noPush")
        #expect(current.uncertainty == .seconds(300))
        #expect(current.duration(at: world.service.snapshot.now) == .seconds(60))
        let sentence = try #require(world.service.snapshot.findings["backup"]?.finding.sentence)
        #expect(sentence == "no push since \(world.service.snapshot.time(last).text)")
        let account = world.service.snapshot.accounting.accounts["backup"]
        #expect(account?.evidence[current.start]?.steps.map(\.summary) == ["push: \(sentence)"])
        world.push()
        #expect(world.current()?.state == Self.up)
        #expect(account?.outages.isEmpty == true)
        #expect(world.service.snapshot.accounting.accounts["backup"]?.outages.count == 1)
    }

    @Test func `a push can report a failure with a message, which is cut and escaped`() throws {
        let world = try World()
        world.push()
        world.advance(.seconds(5))
        world.push(isUp: false, "disk \u{1b}[2J full" + String(repeating: "x", count: 1000))
        #expect(world.current()?.state == Self.missing)
        #expect(world.current()?.reason == "reportsFailure")
        let sentence = try #require(world.service.snapshot.findings["backup"]?.finding.sentence)
        #expect(sentence.hasPrefix(#"reports a failure: disk \u{1b}[2J fullx"#))
        #expect(sentence.unicodeScalars.count < 300)
        // A failure lasts until a push reports success.
        world.advance(.seconds(100_000))
        #expect(world.current()?.reason == "reportsFailure")
        world.push(isUp: true, "done")
        #expect(world.current()?.state == Self.up)
        #expect(world.service.snapshot.findings["backup"]?.finding.sentence == "done")
    }

    @Test func `pushes are limited to one per second and to targets that send them`() throws {
        let world = try World()
        world.push()
        guard case .tooSoon = world.service.push("backup", isUp: true, message: nil) else {
            Issue.record("a second push was accepted")
            return
        }
        // A failure must not be lost.
        world.push(isUp: false)
        #expect(world.current()?.reason == "reportsFailure")
        world.advance(.seconds(1))
        world.push()
        guard case .notExpected = world.service.push("other", isUp: true, message: nil) else {
            Issue.record("a push of an unknown target was accepted")
            return
        }
    }

    @Test func `a push that may have been missed while the machine slept does not count as missing`() throws {
        let world = try World()
        world.push()
        world.advance(.seconds(3000))
        world.kernel.clock.sleep(for: .seconds(3000))
        world.flush()
        #expect(world.current()?.state == Self.awaiting)
        #expect(world.service.snapshot.accounting.accounts["backup"]?.outages.isEmpty == true)
        world.advance(.seconds(3899))
        #expect(world.current()?.state == Self.awaiting)
        world.advance(.seconds(2))
        #expect(world.current()?.state == Self.missing)
    }

    @Test func `a push that was missing before sleep is missing after it`() throws {
        let world = try World()
        world.push()
        world.advance(.seconds(3901))
        #expect(world.current()?.state == Self.missing)
        world.kernel.clock.sleep(for: .seconds(3000))
        world.flush()
        #expect(world.current()?.state == Self.missing)
    }

    @Test func `a push that may have been lost while this machine was disconnected does not count as missing`() throws {
        let world = try World()
        try world.service.apply([Self.backup, ServiceTarget(name: "internet", host: nil)])
        world.flush()
        world.push()
        world.advance(.seconds(3000))
        world.setCarrier(false)
        world.advance(.seconds(600))
        #expect(world.current("internet")?.state.attribution == .us)
        world.setCarrier(true)
        world.advance(.seconds(400))
        #expect(world.current()?.state == Self.awaiting)
        world.advance(.seconds(3600))
        #expect(world.current()?.state == Self.missing)
    }

    @Test func `a push that may have been lost upstream does not count as missing`() throws {
        let world = try World()
        let internet = ServiceTarget(name: "internet", host: nil, checks: CheckSettings([.init(nil)]))
        try world.service.apply([Self.backup, internet])
        world.flush()
        world.find("works", "internetProven")
        world.push()
        world.advance(.seconds(3000))
        for _ in 1...2 { world.find("upstream", "silentBeyond") }
        #expect(world.current("internet")?.state.attribution == .upstream)
        world.advance(.seconds(1000))
        world.find("works", "internetProven")
        #expect(world.current()?.state == Self.awaiting)
        world.advance(.seconds(3901))
        #expect(world.current()?.state == Self.missing)
    }

    @Test func `other settings keep the last push`() throws {
        let world = try World()
        world.push()
        world.advance(.seconds(60))
        var other = Self.backup
        other.push?.grace = .seconds(600)
        try world.service.apply([other])
        #expect(world.current()?.state == Self.up)
        world.advance(.seconds(4199 - 60))
        #expect(world.current()?.state == Self.up)
        world.advance(.seconds(2))
        #expect(world.current()?.state == Self.missing)
        // The target gets a host in place of pushes.
        try world.service.apply([ServiceTarget(name: "backup", host: "192.0.2.9")])
        world.flush()
        #expect(world.current()?.state == TargetState(.up))
        try world.service.apply([Self.backup])
        world.flush()
        #expect(world.current()?.state == Self.awaiting)
    }

    // MARK: Restarts

    private func start(_ world: HistoryWorld) throws {
        world.start(targets: [])
        try world.service.apply([Self.backup])
        world.flush()
    }

    private func state(_ world: HistoryWorld) -> String? {
        world.service.snapshot.accounting.accounts["backup"]?.ledger.current.state.description
    }

    @Test(arguments: [true, false])
    func `the last push survives a restart, and time without the service is unknown`(isOrderly: Bool) throws {
        let world = try HistoryWorld(HistoryDirectory())
        try start(world)
        _ = world.service.push("backup", isUp: true, message: nil)
        world.advance(.seconds(1000))
        world.flush()
        if isOrderly { world.stop() } else { world.kill() }
        world.advance(.seconds(100))
        try start(world)
        #expect(state(world) == "up")
        // A push may have come while the service was not running.
        world.advance(.seconds(2900))
        world.flush()
        #expect(state(world) == "unknown.undecided")
        world.advance(.seconds(1000))
        world.flush()
        #expect(state(world) == "them.push")
        // The next run knows that the push was missing before.
        world.stop()
        world.advance(.seconds(500))
        try start(world)
        #expect(state(world) == "them.push")
        _ = world.service.push("backup", isUp: true, message: nil)
        #expect(state(world) == "up")
        world.stop()
    }

    @Test func `a push that no run could observe is not missing after another restart`() throws {
        let world = try HistoryWorld(HistoryDirectory())
        try start(world)
        _ = world.service.push("backup", isUp: true, message: nil)
        world.advance(.seconds(1800))
        world.stop()
        world.advance(.seconds(5400))
        try start(world)
        world.advance(.seconds(300))
        #expect(state(world) == "unknown.undecided")
        world.stop()
        try start(world)
        #expect(state(world) == "unknown.undecided")
        world.stop()
    }

    @Test func `a reported failure survives a restart`() throws {
        let world = try HistoryWorld(HistoryDirectory())
        try start(world)
        _ = world.service.push("backup", isUp: false, message: "x")
        world.stop()
        world.advance(.seconds(86_400))
        try start(world)
        #expect(state(world) == "them.push")
        world.stop()
    }

    // MARK: Pauses

    private static let paused = TargetState(.unknown, .paused)
    private static let erp = ServiceTarget(name: "erp", host: "192.0.2.9", checks: CheckSettings([.init(nil)]))

    @Test func `a paused target is neither observed nor checked`() throws {
        let world = try World()
        try world.service.apply([Self.backup, Self.erp])
        world.flush()
        guard case .done = world.service.pause("erp"), case .done = world.service.pause("backup") else {
            Issue.record("the targets were not paused")
            return
        }
        #expect(world.service.state.withLock { $0.observers["erp"] == nil && $0.checks["erp"] == nil })
        world.setCarrier(false)
        world.push()
        for name in ["erp", "backup"] {
            #expect(world.current(name)?.state == Self.paused)
            #expect(world.current(name)?.reason == "paused")
        }
        // Other settings do not end the pause.
        var other = Self.erp
        other.checks?.interval = .seconds(5)
        try world.service.apply([Self.backup, other])
        #expect(world.current("erp")?.state == Self.paused)
        for name in ["erp", "backup"] {
            guard case .done = world.service.continueTarget(name) else {
                Issue.record("\(name) was not continued")
                return
            }
        }
        world.flush()
        #expect(world.current("erp")?.state == TargetState(.us, .link))
        #expect(world.current()?.state == Self.up)
        guard case .unknownTarget = world.service.pause("x"), case .unknownTarget = world.service.continueTarget("x")
        else {
            Issue.record("an unknown target was paused")
            return
        }
    }

    @Test func `the configuration disables and enables a target`() throws {
        let world = try World()
        var target = Self.erp
        target.isEnabled = false
        try world.service.apply([target])
        #expect(world.current("erp")?.reason == "disabled")
        #expect(world.service.state.withLock { $0.checks.isEmpty })
        guard case .disabled = world.service.continueTarget("erp") else {
            Issue.record("a disabled target was continued")
            return
        }
        target.isEnabled = true
        try world.service.apply([target])
        world.flush()
        #expect(world.current("erp")?.state == Self.awaiting)
        world.service.endChecks()
    }

    @Test func `a pause survives a restart`() throws {
        let world = try HistoryWorld(HistoryDirectory())
        for isPaused in [false, true, true, false] {
            try start(world)
            if state(world)?.contains("paused") != isPaused {
                _ = isPaused ? world.service.pause("backup") : world.service.continueTarget("backup")
            }
            world.flush()
            world.stop()
            world.advance(.seconds(10))
            try start(world)
            #expect((state(world) == "unknown.paused") == isPaused)
            world.stop()
        }
    }

    @Test func `the overview lists targets in the order of their numbers`() throws {
        let world = try World()
        let targets = [("a", 0), ("b", -1), ("c", 0), ("d", 5), ("e", -1)].map { name, order in
            ServiceTarget(name: name, host: nil, push: Self.settings, order: order)
        }
        try world.service.apply(targets)
        #expect(world.service.snapshot.order == ["b", "e", "a", "c", "d"])
    }
}
