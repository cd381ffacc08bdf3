import LinuxSupport
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// Messages of many senders for one reader, and probes without a task.
@Suite struct MessageQueueTests {
    @Test func `all messages are returned at once in order`() async {
        let messages = MessageQueue<Int>()
        for number in 0..<5 { messages.post(number) }
        #expect(await messages.take(until: nil) == [0, 1, 2, 3, 4])
        messages.call()
        #expect(await messages.take(until: nil) == [])
        #expect(await messages.take(until: .now) == [])
    }

    @Test func `a waiting reader wakes for a message, a call and the deadline`() async {
        let messages = MessageQueue<Int>()
        async let message = messages.take(until: nil)
        messages.post(7)
        #expect(await message == [7])
        async let call = messages.take(until: nil)
        messages.call()
        #expect(await call == [])
        let begun = ContinuousClock.now
        #expect(await messages.take(until: begun + .milliseconds(5)) == [])
        #expect(begun + .milliseconds(5) <= .now)
        // The timer of a wait that ended early wakes no reader.
        async let early = messages.take(until: .now + .seconds(3600))
        messages.post(8)
        #expect(await early == [8])
    }

    @Test func `no message of many writers is lost`() async {
        let messages = MessageQueue<Int>()
        await withDiscardingTaskGroup { group in
            for writer in 0..<8 {
                group.addTask { for number in 0..<1000 { messages.post(writer * 1000 + number) } }
            }
            var seen: [Int] = []
            while seen.count < 8000 { seen += await messages.take(until: nil) }
            #expect(Set(seen).count == 8000)
            // The messages of one writer stay in order.
            for writer in 0..<8 {
                let own = seen.filter { $0 / 1000 == writer }
                #expect(own == own.sorted())
            }
        }
    }

    private static let result = ProbeResult(
        ProbeRequest(.echo, .target, binding: ProbeBinding(family: .ipv4)),
        generation: 1,
        .answered
    )

    @Test func `the end of a probe is reported once, to its owner or to the round that took it over`() async throws {
        let engine = try SocketEngine()
        let told = Locked(0)
        let unclaimed = RunningProbe(on: engine) { _ in told.withLock { $0 += 1 } }
        unclaimed.end(Self.result)
        #expect(told.withLock { $0 } == 1)
        // It is too late to take the probe over, but its result is available.
        #expect(await unclaimed.result() == Self.result)
        let claimed = RunningProbe(on: engine) { _ in Issue.record("the owner of the probe received the result") }
        let round = Task.immediate { await claimed.result() }
        claimed.end(Self.result)
        #expect(await round.value == Self.result)
    }

    @Test func `a cancelled round cancels the probe that it took over`() async throws {
        let engine = try SocketEngine()
        let probe = RunningProbe(on: engine) { _ in }
        var ended = Self.result
        ended.outcome = .cancelled
        let round = Task.immediate { await probe.result() }
        let closed = SocketEndpoint(WireAddress(ipv4: 0x7f00_0001), port: 9)
        let silent = DatagramRequest(to: closed, .payload([0]), limit: .seconds(600), endsAtError: false)
        let cancelled = ended
        let numbers = engine.begin([.datagram(silent) { _ in probe.end(cancelled) }])
        probe.begin(numbers.lowerBound)
        round.cancel()
        #expect(await round.value.outcome == .cancelled)
    }
}
