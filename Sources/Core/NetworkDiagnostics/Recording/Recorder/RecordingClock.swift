import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

/// Time, each reading and each timer of which is written down.
struct RecordingClock: MonitorClock {
    private let clock: any MonitorClock
    private let recorder: Recorder

    init(_ clock: any MonitorClock, _ recorder: Recorder) {
        self.clock = clock
        self.recorder = recorder
    }

    var monotonic: Duration {
        let now = clock.monotonic
        recorder.note(RecordedQuestion(.monotonic), [], at: now)
        return now
    }

    var boot: Duration {
        let (monotonic, boot) = (clock.monotonic, clock.boot)
        var encoder = ByteEncoder()
        encoder.add(boot - monotonic)
        recorder.note(RecordedQuestion(.boot), encoder.bytes, at: monotonic)
        return boot
    }

    func schedule(
        after delay: Duration,
        on queue: DispatchQueue,
        _ action: @escaping @Sendable () -> Void
    ) -> Cancellation {
        let number = recorder.makeNumber()
        var encoder = ByteEncoder()
        encoder.add(number: number)
        encoder.add(delay)
        recorder.note(RecordedQuestion(.schedule), encoder.bytes)
        return clock.schedule(after: delay, on: queue) { [recorder] in
            recorder.turn(.fired(number))
            action()
        }
    }

    func soon(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) {
        let number = recorder.makeNumber()
        var encoder = ByteEncoder()
        encoder.add(number: number)
        recorder.note(RecordedQuestion(.soon), encoder.bytes)
        clock.soon(on: queue) { [recorder] in
            recorder.turn(.fired(number))
            action()
        }
    }

    func watchForSleep(on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation? {
        let watch = clock.watchForSleep(on: queue) { [recorder] in
            recorder.turn(.woke)
            action()
        }
        recorder.note(RecordedQuestion(.watchesSleep), watch != nil)
        return watch
    }
}
