import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityChecks
@testable import ReachabilityService

/// A service with a fake kernel and checks whose results a test provides.
@Suite struct CheckedServiceTests {
    private final class World: ServiceWorld, Sendable {
        let kernel = FakeKernel.connected()
        let service: MonitoringService
        let manager: NetworkReachabilityManager
        let target: ServiceTarget
        private let events = Locked<[ServiceEvent]>([])
        private let listener: Locked<Cancellation?> = Locked(nil)

        init() throws {
            manager = try NetworkReachabilityManager(kernel: kernel)
            service = MonitoringService(clock: .fake(kernel.clock), makeProber: { _, _ in SilentProber() })
            target = ServiceTarget(name: "erp", host: nil, checks: CheckSettings([.init(nil)]))
            let token = service.addListener { [events] more in events.withLock { $0 += more } }
            listener.withLock { $0 = token }
            service.insert(target, manager)
            flush()
        }

        var turn: UInt64? { service.state.withLock { $0.checks["erp"]?.turn } }
        var account: Accounting.Account? { service.snapshot.accounting.accounts["erp"] }
        var state: TargetState? { account?.ledger.current.state }

        /// Ends a check that took a time.
        func find(_ place: String, _ reason: String, taking length: Duration = .zero, turn: UInt64? = nil) {
            guard let turn = turn ?? self.turn else { return }
            let finding = CheckFinding(
                place,
                reason,
                sentence: "\(place): \(reason)",
                steps: [.init(kind: "verdict", state: "broken", summary: "\(place): \(reason)", remedy: nil)]
            )
            kernel.clock.advance(by: length)
            let now = kernel.clock.boot
            _ = service.take(finding, of: "erp", turn, from: now - length, to: now)
            flush()
        }

        func total(_ account: LedgerAccount) -> Duration? { total(account, of: "erp") }
    }

    private static let up = TargetState(.up, basis: .checks)

    @Test func `a checked target is undecided before the first check`() throws {
        let world = try World()
        #expect(world.state == TargetState(.unknown, .undecided))
        world.kernel.clock.advance(by: .milliseconds(300))
        world.find("works", "targetAnswers")
        #expect(world.state == Self.up)
        #expect(world.account?.ledger.current.uncertainty == .milliseconds(300))
        #expect(world.total(.unknown) == .milliseconds(300))
    }

    /// A check and the ledger must attribute a reason that the kernel reports, such as a deleted VRF, to the same cause.
    @Test(arguments: [
        NetworkPath.UnsatisfiedReason.noRoute, .noInterface, .refused, .unreachable, .blackholed, .prohibited,
        .discarded,
        .noSourceAddress, .linkDown, .noCarrier, .dormant, .interfaceNotAllowed,
    ])
    func `a check and the kernel report cause the same state for a reason`(reason: NetworkPath.UnsatisfiedReason) {
        let verdict = CheckJudge.judge(CheckEvidence(path: NetworkPath(flags: [], reason: reason)))
        let check = Observation.Check(place: verdict.failurePoint.rawValue, reason: verdict.reason.rawValue)
        let byCheck = Attributor.state(of: Observation(path: .reachable, check: check))
        let byKernel = Attributor.state(of: Observation(path: .notReachable(reason: reason.rawValue)))
        #expect(byCheck.description == byKernel.description)
        #expect(verdict.reason.rawValue == reason.rawValue)
        #expect((verdict.failurePoint == .link) == (byKernel.cause == .link))
    }

    @Test(arguments: [
        ("gateway", "neighbourFailed", TargetState(.upstream, .gateway, basis: .checks)),
        ("portal", "redirected", TargetState(.upstream, .portal, basis: .checks)),
        ("upstream", "silentBeyond", TargetState(.upstream, .provider, basis: .checks)),
        ("dns", "serverSilent", TargetState(.upstream, .dns, basis: .checks)),
        ("dns", "noServerConfigured", TargetState(.us, .dns, basis: .checks)),
        ("thisMachine", "firewall", TargetState(.us, .policy, basis: .checks)),
        ("host", "silent", TargetState(.them, .host, basis: .checks)),
        ("service", "refused", TargetState(.them, .refused, basis: .checks)),
        ("service", "statusNotExpected", TargetState(.them, .http, basis: .checks)),
        ("tls", "expired", TargetState(.them, .tls, basis: .checks)),
        ("dns", "nameNotFound", TargetState(.them, .dns, basis: .checks)),
        ("inconclusive", "anchorsProveNothing", TargetState(.unknown, .undecided, basis: .checks)),
    ])
    func `the result of checks is recorded with its time and evidence`(
        place: String,
        reason: String,
        state: TargetState
    ) throws {
        let world = try World()
        world.find("works", "targetAnswers")
        world.kernel.clock.advance(by: .seconds(30))
        world.find(place, reason, taking: .milliseconds(100))
        #expect(world.state == Self.up)
        world.kernel.clock.advance(by: .seconds(1))
        world.find(place, reason, taking: .milliseconds(100))
        let current = try #require(world.account?.ledger.current)
        #expect(current.state == state)
        #expect(current.reason == reason)
        #expect(current.uncertainty == .milliseconds(30_100))
        #expect(current.duration(at: world.service.snapshot.now) == .milliseconds(1100))
        #expect(world.account?.evidence[current.start]?.steps.last?.summary == "\(place): \(reason)")
        #expect(world.service.snapshot.findings["erp"]?.finding.sentence == "\(place): \(reason)")
    }

    @Test func `the kernel's path takes precedence, and results of an older path are discarded`() throws {
        let world = try World()
        world.find("works", "targetAnswers")
        let before = try #require(world.turn)
        world.setCarrier(false, after: .seconds(10))
        #expect(world.state == TargetState(.us, .link))
        world.find("host", "silent", turn: before)
        world.find("host", "silent")
        #expect(world.state == TargetState(.us, .link))
        #expect(world.account?.ledger.current.reason == "noCarrier")
    }

    @Test func `an outage of the path ends at its return if the first check succeeds`() throws {
        let world = try World()
        world.find("works", "targetAnswers")
        world.setCarrier(false, after: .seconds(10))
        world.setCarrier(true, after: .seconds(4))
        #expect(world.state == TargetState(.us, .link))
        // The first check is late, because many targets are checked.
        world.kernel.clock.advance(by: .seconds(7))
        world.find("works", "targetAnswers", taking: .milliseconds(20))
        #expect(world.state == Self.up)
        let outage = try #require(world.account?.outages.first)
        #expect(outage.duration(at: world.service.snapshot.now) == .seconds(4))
        #expect(outage.endUncertainty == .zero)
        #expect(world.total(.us) == .seconds(4))
    }

    @Test func `a returned path with a failing check continues the outage`() throws {
        let world = try World()
        world.find("works", "targetAnswers")
        world.setCarrier(false)
        world.setCarrier(true, after: .seconds(4))
        world.find("upstream", "silentBeyond", taking: .seconds(3))
        let outage = try #require(world.account?.ledger.outage)
        #expect(outage.intervals.map(\.state.description) == ["us.link", "upstream.provider"])
        #expect(outage.intervals[0].duration(at: world.service.snapshot.now) == .seconds(4))
        #expect(outage.intervals[1].duration(at: world.service.snapshot.now) == .seconds(3))
        #expect(outage.uncertainty == .zero)
    }

    @Test func `an outage ends with bounds if the first check after its return is inconclusive`() throws {
        let world = try World()
        world.find("works", "targetAnswers")
        world.setCarrier(false, after: .seconds(10))
        world.setCarrier(true, after: .seconds(4))
        world.find("inconclusive", "anchorsProveNothing", taking: .seconds(2))
        #expect(world.account?.ledger.outage != nil)
        world.find("works", "targetAnswers", taking: .seconds(1))
        let outage = try #require(world.account?.outages.first)
        #expect(outage.ending == .up)
        #expect(outage.duration(at: world.service.snapshot.now) == .seconds(7))
        #expect(outage.endUncertainty == .seconds(3))
        #expect(world.state == Self.up && world.total(.unknown) == .zero)
    }

    @Test func `a notice explains how to permit ping`() throws {
        let ping = ServiceTarget(
            name: "gateway",
            host: "192.0.2.1",
            checks: CheckSettings([.init(CheckTarget("icmp://192.0.2.1", decisive: .echo))])
        )
        let connection = ServiceTarget(
            name: "erp",
            host: "192.0.2.2",
            checks: CheckSettings([.init(CheckTarget("tcp://192.0.2.2:22", decisive: .tcp))])
        )
        let notices = CheckNotices.of([ping, connection]) { false }
        #expect(notices.count == 1)
        #expect(notices.first?.contains("net.ipv4.ping_group_range") == true)
        #expect(CheckNotices.of([ping]) { true }.isEmpty)
        #expect(CheckNotices.of([connection]) { false }.isEmpty)
        let service = MonitoringService(mayEcho: { false })
        try service.apply([ping])
        #expect(service.snapshot.notices == notices)
        try service.apply([])
        #expect(service.snapshot.notices.isEmpty)
        service.endChecks()
    }

    @Test func `results from before a sleep are discarded`() throws {
        let world = try World()
        world.find("works", "targetAnswers")
        let before = try #require(world.turn)
        world.kernel.clock.sleep(for: .seconds(3600))
        world.flush()
        #expect(try #require(world.turn) > before)
        world.find("host", "silent", turn: before)
        world.find("works", "targetAnswers")
        #expect(world.total(.unknown) == .seconds(3600))
        #expect(world.state == Self.up)
    }

    @Test func `removing checks restores the state of the path, and new checks start undecided`() throws {
        let world = try World()
        world.find("host", "silent")
        world.find("host", "silent")
        #expect(world.state == TargetState(.them, .host, basis: .checks))
        var other = world.target
        other.checks?.interval = .seconds(60)
        world.service.changeChecks(of: other)
        // The state does not change before the first check.
        #expect(world.state == TargetState(.them, .host, basis: .checks))
        other.checks = nil
        world.service.changeChecks(of: other)
        #expect(world.state == TargetState(.up))
        #expect(world.service.snapshot.findings["erp"] == nil)
        world.service.changeChecks(of: world.target)
        #expect(world.state == TargetState(.up))
        world.find("works", "targetAnswers")
        #expect(world.state == Self.up)
    }
}
