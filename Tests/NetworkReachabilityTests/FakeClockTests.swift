import Dispatch
import LinuxSupport
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite struct FakeClockTests {
    private let clock = ManualClock(start: .seconds(5))
    private let queue = DispatchQueue(label: "FakeClockTests")
    private let heard = RecordingListener<String>()

    private func schedule(_ seconds: Int, _ name: String) -> Cancellation {
        clock.schedule(after: .seconds(seconds), on: queue) { [heard] in heard.record(name) }
    }

    @Test func actionsRunInTheOrderOfTheirTimes() {
        let timers = [schedule(3, "c"), schedule(1, "a"), schedule(2, "b")]
        clock.advance(by: .milliseconds(2999))
        #expect(heard.values == ["a", "b"])
        #expect(clock.timeToNextAction == .milliseconds(1))
        clock.advance(by: .milliseconds(1))
        #expect(heard.values == ["a", "b", "c"])
        #expect(clock.monotonic == .seconds(8))
        #expect(clock.scheduledCount == 0)
        withExtendedLifetime(timers) {}
    }

    @Test func anActionSeesItsOwnTimeAndMaySetOffAnother() {
        let times = RecordingListener<Duration>()
        let timers = RecordingListener<Cancellation>()
        timers.record(
            clock.schedule(after: .seconds(1), on: queue) { [clock, queue] in
                times.record(clock.monotonic)
                timers.record(clock.schedule(after: .seconds(1), on: queue) { times.record(clock.monotonic) })
            }
        )
        clock.advance(by: .seconds(10))
        #expect(times.values == [.seconds(6), .seconds(7)])
    }

    @Test func whatIsCancelledOrLetGoDoesNotRun() {
        let timer = schedule(1, "cancelled")
        timer.cancel()
        _ = schedule(1, "let go")
        clock.advance(by: .seconds(2))
        #expect(heard.values == [])
    }

    @Test func whatIsDueAtOnceNeedsNoTime() {
        let timer = schedule(0, "now")
        #expect(heard.waitForCount(1))
        #expect(clock.scheduledCount == 0)
        withExtendedLifetime(timer) {}
    }

    @Test func sleepMovesTheBootClockAlone() {
        let timer = schedule(1, "timer")
        let watch = clock.watchForSleep(on: queue) { [heard] in heard.record("slept") }
        clock.sleep(for: .seconds(100))
        #expect(heard.values == ["slept"])
        #expect(clock.monotonic == .seconds(5))
        #expect(clock.boot == .seconds(105))
        watch?.cancel()
        clock.sleep(for: .seconds(1))
        #expect(heard.values == ["slept"])
        withExtendedLifetime(timer) {}
    }
}
