import LinuxSupport
import Testing

@Suite struct QuietClockTests {
    private let clock = QuietClock()

    @Test(arguments: [Duration.seconds(-1), .zero, .milliseconds(20)])
    func `a sleep is as long as was asked for, at least`(duration: Duration) async throws {
        let start = clock.now
        try await clock.sleep(for: duration)
        #expect(start.duration(to: clock.now) >= duration)
    }

    @Test func `a sleep ends when its task is cancelled, also before it`() async {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(3600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
