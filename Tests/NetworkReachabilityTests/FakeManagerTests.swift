import Dispatch
import LinuxSupport
import Testing

@testable import KernelLab
@testable import NetworkReachability
@testable import NetworkReachabilityTesting

@Suite struct FakeManagerTests {
    private let kernel = FakeKernel()

    /// The kernel reports `dormant` some milliseconds after the carrier.
    @Test func `Wi-Fi without authorization is never reachable before it is dormant`() async throws {
        kernel.addLink("wlan0", kind: .wiFi)
        kernel.addAddress("10.0.0.2/24", to: "wlan0")
        kernel.addRoute("default", via: "10.0.0.1")
        let manager = try NetworkReachabilityManager(kernel: kernel)
        #expect(manager.path.reason == nil)
        kernel.setDormant("wlan0")
        #expect(manager.path.reason == .dormant)
        kernel.setCarrier("wlan0", false)
        #expect(manager.path.reason == .noCarrier)
        kernel.setCarrier("wlan0", true, notifiedAfter: .milliseconds(3))
        #expect(manager.path.reason == .dormant)
        await kernel.clock.advance(by: .milliseconds(3))
        #expect(manager.path.reason == .dormant)
        kernel.setDormant("wlan0", false)
        #expect(manager.path.reason == nil)
    }
}

@Suite struct FakeListenerTests {
    @Test func `values are stored in the order of recording`() {
        let listener = RecordingListener<Int>()
        for value in 1...3 { listener.record(value) }
        #expect(listener.values == [1, 2, 3])
        #expect(listener.last == 3)
        listener.removeAll()
        #expect(listener.count == 0)
        #expect(listener.last == nil)
    }

    @Test func `waiting ends when the values are recorded`() {
        let listener = RecordingListener<Int>()
        DispatchQueue.global().async { for value in 0..<100 { listener.record(value) } }
        #expect(listener.waitForCount(100))
        #expect(listener.values == Array(0..<100))
    }

    @Test func `waiting ends at the timeout`() {
        let listener = RecordingListener<Int>()
        listener.record(1)
        #expect(!listener.waitForCount(2, timeout: .milliseconds(20)))
        #expect(listener.waitForCount(1, timeout: .zero))
    }

    @Test func `asynchronous waiting blocks no thread of the caller`() async {
        let listener = RecordingListener<Int>()
        listener.record(1)
        #expect(await listener.waitForCount(1, timeout: .zero))
        #expect(await !listener.waitForCount(2, timeout: .milliseconds(20)))
    }
}

@Suite struct FakeClockTests {
    private let clock = ManualClock(start: .seconds(5))
    private let queue = DispatchQueue(label: "FakeClockTests")
    private let received = RecordingListener<String>()

    private func schedule(_ seconds: Int, _ name: String) -> Cancellation {
        clock.schedule(after: .seconds(seconds), on: queue) { [received] in received.record(name) }
    }

    @Test func `actions run in the order of their times`() {
        let timers = [schedule(3, "c"), schedule(1, "a"), schedule(2, "b")]
        clock.advance(by: .milliseconds(2999))
        #expect(received.values == ["a", "b"])
        #expect(clock.timeToNextAction == .milliseconds(1))
        clock.advance(by: .milliseconds(1))
        #expect(received.values == ["a", "b", "c"])
        #expect(clock.monotonic == .seconds(8))
        #expect(clock.scheduledCount == 0)
        withExtendedLifetime(timers) {}
    }

    @Test func `an action runs at its own time and can schedule another`() {
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

    @Test func `a cancelled or released timer does not fire`() {
        let timer = schedule(1, "cancelled")
        timer.cancel()
        _ = schedule(1, "let go")
        clock.advance(by: .seconds(2))
        #expect(received.values == [])
    }

    @Test func `an action without delay runs immediately`() {
        let timer = schedule(0, "now")
        #expect(received.waitForCount(1))
        #expect(clock.scheduledCount == 0)
        withExtendedLifetime(timer) {}
    }

    @Test func `sleep advances only the boot clock`() {
        let timer = schedule(1, "timer")
        let watch = clock.watchForSleep(on: queue) { [received] in received.record("slept") }
        clock.sleep(for: .seconds(100))
        #expect(received.values == ["slept"])
        #expect(clock.monotonic == .seconds(5))
        #expect(clock.boot == .seconds(105))
        watch?.cancel()
        clock.sleep(for: .seconds(1))
        #expect(received.values == ["slept"])
        withExtendedLifetime(timer) {}
    }
}

@Suite("The delivery queue of a listener")
struct DeliveryQueueTests {
    private let queue = DeliveryQueue(.status)
    private let reachable = NetworkPath(flags: .reachable)
    private let lost = NetworkPath(flags: [])

    @Test func `up to the limit, every change waits in sequence`() {
        for number in 0..<DeliveryQueue.limit { #expect(queue.put(number % 2 == 0 ? reachable : lost, since: nil)) }
        for number in 0..<DeliveryQueue.limit {
            #expect(queue.take()?.path == (number % 2 == 0 ? reachable : lost))
        }
    }

    @Test(arguments: 0..<4)
    func `beyond the limit, the latest change replaces the last one and no status repeats`(surplus: Int) {
        let count = DeliveryQueue.limit + surplus
        let calls = (0..<count).count { queue.put($0 % 2 == 0 ? reachable : lost, since: .seconds($0)) }
        #expect(calls == DeliveryQueue.limit)
        var told: [NetworkPath] = []
        for _ in 0..<calls { if let call = queue.take() { told.append(call.path) } }
        #expect(told.last == (count % 2 == 1 ? reachable : lost))
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test func `a listener whose queue was blocked during a storm finally receives the latest status`() throws {
        let kernel = FakeKernel.connected()
        let queue = DispatchQueue(label: "listener")
        let listener = RecordingListener<NetworkReachabilityStatus>()
        let manager = try NetworkReachabilityManager(kernel: kernel)
        manager.startListening(onQueue: queue, onUpdatePerforming: listener.record)
        let settle = { manager.record.monitor.queue.sync {} }
        settle()
        queue.sync {}
        queue.suspend()
        for _ in 0..<1000 {
            kernel.setCarrier("eth0", false)
            settle()
            kernel.setCarrier("eth0", true)
            settle()
        }
        kernel.setCarrier("eth0", false)
        settle()
        queue.resume()
        queue.sync {}
        #expect(listener.values.count <= DeliveryQueue.limit + 1)
        #expect(listener.values.last == .notReachable)
        #expect(zip(listener.values, listener.values.dropFirst()).allSatisfy { $0 != $1 })
    }
}
