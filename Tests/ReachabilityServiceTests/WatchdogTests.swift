import Dispatch
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import ServiceLab
import Testing

@testable import ReachabilityService

/// The watchdog and its self-test.
@Suite struct WatchdogTests {
    private final class World: Sendable {
        let clock = ManualClock()
        /// The self-tests that were started and have not ended.
        let tests = Locked<[@Sendable (Bool) -> Void]>([])
        let notified = Locked(0)
        private let watchdog: Locked<Watchdog?> = Locked(nil)

        init() {
            let watchdog = Watchdog(limit: .seconds(60), clock: clock) { [tests] done in
                tests.withLock { $0.append(done) }
            } notify: { [notified] in
                notified.withLock { $0 += 1 }
            }
            self.watchdog.withLock { $0 = watchdog }
        }

        func finish(_ isWell: Bool) {
            let given = tests.withLock { tests in
                defer { tests = [] }
                return tests
            }
            for test in given { test(isWell) }
        }

        func end() { watchdog.withLock { $0 = nil } }
    }

    @Test func `a notification is sent at half the time limit, after each successful self-test`() {
        let world = World()
        world.clock.advance(by: .seconds(29))
        #expect(world.tests.withLock(\.count) == 0)
        world.clock.advance(by: .seconds(1))
        #expect(world.tests.withLock(\.count) == 1)
        #expect(world.notified.withLock(\.self) == 0)
        world.finish(true)
        #expect(world.notified.withLock(\.self) == 1)
        world.clock.advance(by: .seconds(30))
        world.finish(true)
        #expect(world.notified.withLock(\.self) == 2)
    }

    @Test func `no notification is sent while a self-test is running, and no second test starts`() {
        let world = World()
        world.clock.advance(by: .seconds(3600))
        #expect(world.tests.withLock(\.count) == 1)
        #expect(world.notified.withLock(\.self) == 0)
        world.finish(true)
        #expect(world.notified.withLock(\.self) == 1)
    }

    @Test func `a failed self-test sends no notification, and the next successful one does`() {
        let world = World()
        world.clock.advance(by: .seconds(30))
        world.finish(false)
        #expect(world.notified.withLock(\.self) == 0)
        world.clock.advance(by: .seconds(30))
        world.finish(true)
        #expect(world.notified.withLock(\.self) == 1)
    }

    @Test func `a released watchdog cancels its timer`() {
        let world = World()
        #expect(world.clock.scheduledCount == 1)
        world.end()
        #expect(world.clock.scheduledCount == 0)
    }

    @Test func `the self-test succeeds after the history has written all events`() async throws {
        let world = try HistoryWorld(HistoryDirectory())
        world.start()
        let (service, writer) = (world.service!, world.writer!)
        let isWell = await withCheckedContinuation { continuation in
            service.roundTrip(through: writer) { continuation.resume(returning: $0) }
        }
        #expect(isWell)
        #expect(writer.status.pending == 0)
        world.stop()
    }

    @Test func `the self-test does not end while a monitor queue hangs`() async throws {
        let world = try HistoryWorld(HistoryDirectory())
        world.start()
        let (service, monitor) = (world.service!, try #require(world.service.monitors.first))
        let (isBack, hang) = (Locked(false), DispatchSemaphore(value: 0))
        monitor.queue.async { hang.wait() }
        await withCheckedContinuation { continuation in
            service.roundTrip(through: nil) { _ in
                isBack.withLock { $0 = true }
                continuation.resume()
            }
            service.flush()
            #expect(isBack.withLock { !$0 })
            hang.signal()
        }
        #expect(isBack.withLock { $0 })
        world.stop()
    }

    @Test func `the self-test fails if the kernel does not answer`() async throws {
        let world = try HistoryWorld(HistoryDirectory())
        world.start()
        let service = world.service!
        world.kernel.failQuestions()
        let isWell = await withCheckedContinuation { continuation in
            service.roundTrip(through: nil) { continuation.resume(returning: $0) }
        }
        #expect(!isWell)
        world.stop()
    }
}
