import KernelLab
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityLedger
import ServiceLab
import Testing

@testable import ReachabilityService

/// A service with a fake kernel and a fake clock.
@Suite struct MonitoringServiceTests {
    private final class World: ServiceWorld, Sendable {
        let kernel = FakeKernel.connected()
        let service: MonitoringService
        let manager: NetworkReachabilityManager
        private let events = Locked<[ServiceEvent]>([])
        private let wallOffset: Locked<Duration>
        private let listener: Locked<Cancellation?> = Locked(nil)

        init() throws {
            let wallOffset = Locked(Duration.seconds(1_700_000_000))
            let clock = kernel.clock
            self.wallOffset = wallOffset
            manager = try NetworkReachabilityManager(kernel: kernel)
            service = MonitoringService(
                clock: ServiceClock(
                    monitor: clock,
                    real: { wallOffset.withLock { $0 } + clock.boot },
                    bootIdentifier: "boot"
                )
            )
            let token = service.addListener { [events] more in events.withLock { $0 += more } }
            listener.withLock { $0 = token }
            service.insert("internet", manager)
            flush()
        }

        /// Makes several changes before the first of them is received.
        func atOnce(_ changes: () -> Void) { manager.record.monitor.queue.sync(execute: changes) }

        func setClock(by step: Duration) { wallOffset.withLock { $0 += step } }

        /// The events so far as short texts.
        var texts: [String] {
            events.withLock(\.self).compactMap { event in
                switch event.kind {
                case .ledger(.closed(let interval)): "closed \(interval.state)"
                case .ledger(.opened(let interval)): "opened \(interval.state)"
                case .ledger(.refined(let interval)): "refined \(interval.state)"
                case .ledger(.outageBegan): "outage began"
                case .ledger(.outageRefined): "outage went on"
                case .ledger(.outageEnded(let outage)): "outage ended by \(outage.ending?.rawValue ?? "-")"
                case .explained: nil
                case .maintenancePlanned(let planned): "planned \(planned.id)"
                case .maintenanceCancelled(let id): "cancelled \(id)"
                case .noted(let note): "note \(note.text)"
                case .pushed(let push): "pushed \(push.isUp)"
                case .actorFound(let actor): "actor \(actor.process.program)"
                case .clockStepped(let step): "clock stepped by \(step.components.seconds) s"
                case .resumed(let sleep): "resumed after \(sleep.components.seconds) s"
                }
            }
        }

        var account: Accounting.Account? { service.snapshot.accounting.accounts["internet"] }

        func total(_ account: LedgerAccount) -> Duration? { total(account, of: "internet") }
    }

    @Test func `an outage is detected and attributed with its exact duration`() throws {
        let world = try World()
        world.setCarrier(false, after: .seconds(60))
        world.setCarrier(true, after: .milliseconds(400))
        let outage = try #require(world.account?.outages.first)
        #expect(world.account?.outages.count == 1)
        #expect(outage.deciding(at: world.service.snapshot.now).state == TargetState(.us, .link))
        #expect(outage.deciding(at: world.service.snapshot.now).reason == "noCarrier")
        #expect(outage.duration(at: world.service.snapshot.now) == .milliseconds(400))
        // The kernel may report the loss one second late.
        #expect(outage.intervals.map(\.uncertainty) == [.seconds(1)])
        #expect(outage.endUncertainty == .zero)
        #expect(
            world.texts == [
                "opened up", "closed up", "opened us.link", "outage began", "closed us.link", "opened up",
                "outage ended by up",
            ]
        )
    }

    @Test func `the uncertainty of a carrier loss is limited by the last observation of the carrier`() throws {
        let world = try World()
        for _ in 0..<2 {
            world.setCarrier(false, after: .milliseconds(300))
            world.setCarrier(true, after: .milliseconds(40))
        }
        let outages = try #require(world.account?.outages)
        #expect(outages.map(\.uncertainty) == [.milliseconds(300), .milliseconds(300)])
        // Setting a link down takes effect at once, so there is no uncertainty.
        world.kernel.clock.advance(by: .seconds(5))
        world.kernel.setUp("eth0", false)
        world.flush()
        #expect(world.account?.ledger.current.reason == "linkDown")
        #expect(world.account?.ledger.current.uncertainty == .zero)
    }

    @Test func `a carrier loss that ended before it was reported is recorded`() throws {
        let world = try World()
        world.kernel.clock.advance(by: .seconds(60))
        world.kernel.setCarrier("eth0", false, notifiedAfter: .milliseconds(700))
        world.setCarrier(true, after: .milliseconds(300))
        world.kernel.clock.advance(by: .seconds(2))
        world.flush()
        #expect(world.account?.ledger.current.state == TargetState(.up))
        let outage = try #require(world.account?.outages.first)
        #expect(world.account?.outages.count == 1)
        #expect(outage.deciding(at: world.service.snapshot.now).state == TargetState(.us, .link))
        #expect(outage.end == world.service.snapshot.now - .seconds(2))
        #expect(outage.duration(at: world.service.snapshot.now) + outage.uncertainty >= .milliseconds(300))
        #expect(world.total(.up).map { $0 > .seconds(62) } == true)
    }

    @Test func `an outage begins with the first and ends with the last of several changes`() throws {
        let world = try World()
        world.kernel.clock.advance(by: .seconds(60))
        world.atOnce {
            world.kernel.setCarrier("eth0", false)
            world.kernel.clock.advance(by: .milliseconds(3))
            world.kernel.removeRoute("default")
        }
        world.flush()
        world.kernel.clock.advance(by: .milliseconds(400))
        world.atOnce {
            world.kernel.setCarrier("eth0", true)
            world.kernel.clock.advance(by: .milliseconds(5))
            // The evaluation after the carrier event already sees this route. The event of the route follows.
            world.kernel.addRoute("default", via: "192.0.2.1")
        }
        world.flush()
        let outage = try #require(world.account?.outages.first)
        #expect(world.account?.outages.count == 1)
        #expect(outage.duration(at: world.service.snapshot.now) == .milliseconds(408))
        #expect(outage.uncertainty == .milliseconds(1005))
    }

    @Test func `a lost route changes the cause within the same outage`() throws {
        let world = try World()
        world.kernel.removeRoute("default")
        world.flush()
        world.setCarrier(false, after: .seconds(4))
        world.kernel.clock.advance(by: .seconds(1))
        world.kernel.addRoute("default", via: "192.0.2.1")
        world.setCarrier(true)
        let outage = try #require(world.account?.outages.first)
        #expect(outage.deciding(at: world.service.snapshot.now).state == TargetState(.us, .route))
        #expect(outage.duration(at: world.service.snapshot.now) == .seconds(5))
        #expect(world.total(.us) == .seconds(5))
    }

    @Test func `the sum of all accounts is the total time`() throws {
        let world = try World()
        for turn in 0..<20 {
            world.setCarrier(turn % 2 == 1, after: .milliseconds(100 * turn + 7))
        }
        world.kernel.clock.advance(by: .seconds(3))
        let (accounting, now) = (world.service.snapshot.accounting, world.service.snapshot.now)
        let sum = LedgerAccount.allCases.reduce(Duration.zero) {
            $0 + (accounting.accounts["internet"]?.total($1, at: now) ?? .zero)
        }
        #expect(sum == now - world.service.start)
    }

    @Test func `sleep counts as unknown`() throws {
        let world = try World()
        world.kernel.clock.advance(by: .seconds(10))
        world.kernel.clock.sleep(for: .seconds(3600))
        world.flush()
        world.kernel.clock.advance(by: .seconds(10))
        #expect(world.total(.unknown) == .seconds(3600))
        #expect(world.total(.up) == .seconds(20))
        #expect(world.texts.contains("resumed after 3600 s"))
        let states = (world.account?.intervals ?? []).map(\.state.description)
        #expect(states == ["up", "unknown.suspended"])
    }

    @Test func `a change observed after sleep is not recorded before it`() throws {
        let world = try World()
        // The kernel reports a change before the service is notified of the sleep.
        world.kernel.clock.sleep(for: .seconds(60))
        world.setCarrier(false)
        world.kernel.clock.advance(by: .seconds(5))
        #expect(world.total(.unknown) == .seconds(60))
        #expect(world.total(.us) == .seconds(5))
        #expect(world.account?.ledger.outage?.start == world.account?.ledger.current.start)
    }

    @Test(arguments: [-10 * 365 * 86400, 10 * 365 * 86400])
    func `a step of the wall clock changes displayed times but not durations`(seconds: Int) throws {
        let world = try World()
        world.kernel.clock.advance(by: .seconds(10))
        world.setClock(by: .seconds(seconds))
        world.setCarrier(false)
        #expect(world.texts.contains("clock stepped by \(seconds) s"))
        let (calendar, now) = (world.service.snapshot.calendar, world.service.snapshot.now)
        #expect(calendar.wall(at: now) == .seconds(1_700_000_000 + seconds) + world.kernel.clock.boot)
        #expect(world.total(.up) == .seconds(10))
        #expect(now - world.service.start == .seconds(10))
    }

    @Test func `a removed target has no account`() throws {
        let world = try World()
        world.service.remove("internet")
        world.setCarrier(false)
        #expect(world.account == nil)
        #expect(world.texts == ["opened up", "closed up"])
    }
}
