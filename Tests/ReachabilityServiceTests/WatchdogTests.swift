import Dispatch
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import ReachabilityService

/// That a service lives is told after it was shown, and not otherwise.
@Suite struct WatchdogTests {
    private final class World: Sendable {
        let clock = ManualClock()
        /// The proofs that were asked for and not given.
        let proofs = Locked<[@Sendable (Bool) -> Void]>([])
        let told = Locked(0)
        private let watchdog: Locked<Watchdog?> = Locked(nil)

        init() {
            let watchdog = Watchdog(limit: .seconds(60), clock: clock) { [proofs] done in
                proofs.withLock { $0.append(done) }
            } tell: { [told] in
                told.withLock { $0 += 1 }
            }
            self.watchdog.withLock { $0 = watchdog }
        }

        func prove(_ isWell: Bool) {
            let given = proofs.withLock { proofs in
                defer { proofs = [] }
                return proofs
            }
            for proof in given { proof(isWell) }
        }

        func end() { watchdog.withLock { $0 = nil } }
    }

    @Test func `it is told twice in the time that is given, once it was shown`() {
        let world = World()
        world.clock.advance(by: .seconds(29))
        #expect(world.proofs.withLock(\.count) == 0)
        world.clock.advance(by: .seconds(1))
        #expect(world.proofs.withLock(\.count) == 1)
        #expect(world.told.withLock(\.self) == 0)
        world.prove(true)
        #expect(world.told.withLock(\.self) == 1)
        world.clock.advance(by: .seconds(30))
        world.prove(true)
        #expect(world.told.withLock(\.self) == 2)
    }

    @Test func `nothing is told while a proof does not come, and it is asked for once`() {
        let world = World()
        world.clock.advance(by: .seconds(3600))
        #expect(world.proofs.withLock(\.count) == 1)
        #expect(world.told.withLock(\.self) == 0)
        world.prove(true)
        #expect(world.told.withLock(\.self) == 1)
    }

    @Test func `nothing is told of a service that is not well, until it is`() {
        let world = World()
        world.clock.advance(by: .seconds(30))
        world.prove(false)
        #expect(world.told.withLock(\.self) == 0)
        world.clock.advance(by: .seconds(30))
        world.prove(true)
        #expect(world.told.withLock(\.self) == 1)
    }

    @Test func `it ends when nobody holds it`() {
        let world = World()
        #expect(world.clock.scheduledCount == 1)
        world.end()
        #expect(world.clock.scheduledCount == 0)
    }

    @Test func `a round trip comes back, and not before the history`() async throws {
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

    @Test func `a round trip does not come back while what follows the kernel hangs`() async throws {
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

    @Test func `a kernel that does not answer is told`() async throws {
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
