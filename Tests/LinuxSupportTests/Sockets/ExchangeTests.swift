import Glibc
import Testing

@testable import LinuxSupport

/// The course of a datagram, without a socket: time is a number.
struct ExchangeTests {
    private let address = SocketEndpoint(WireAddress(ipv4: 0x0a01_0001), port: 53)

    private func exchange(_ change: (inout DatagramRequest) -> Void = { _ in }) -> Exchange {
        var request = DatagramRequest(
            to: address,
            .payload([1]),
            tries: [.zero, .milliseconds(700), .milliseconds(1_500)],
            limit: .seconds(3)
        )
        change(&request)
        return Exchange(request, begun: .seconds(100), local: nil)
    }

    private func at(_ milliseconds: Int) -> Duration { .seconds(100) + .milliseconds(milliseconds) }

    /// The clock that stamps are of.
    private func clock(_ milliseconds: Int) -> Duration { .seconds(1_700_000_000) + .milliseconds(milliseconds) }

    private func control(_ milliseconds: Int) -> ControlMessages {
        var bytes = ControlBytes()
        let parts = clock(milliseconds).components
        bytes.addTime(seconds: Int(parts.seconds), nanoseconds: Int(parts.attoseconds / 1_000_000_000))
        return bytes.bytes.withUnsafeBytes { ControlMessages($0) }
    }

    private func begin(_ exchange: inout Exchange, _ milliseconds: Int) {
        let isDue = exchange.beginTry(at: at(milliseconds))
        #expect(isDue)
    }

    private func leaveOut(_ exchange: inout Exchange, _ milliseconds: Int) {
        let isDue = exchange.beginTry(at: at(milliseconds))
        #expect(!isDue)
    }

    private func answer(_ exchange: inout Exchange, _ milliseconds: Int, stamped: Int? = nil, to number: Int? = nil) {
        exchange.noteAnswer(
            from: address,
            [2],
            isTruncated: false,
            control: control(stamped ?? milliseconds),
            to: number,
            at: at(milliseconds)
        )
    }

    @Test
    func `it is sent again at its moments, and ends at its limit`() {
        var exchange = exchange()
        var sent: [Int] = []
        var now = 0
        while exchange.outcome(at: at(now)) == nil {
            while exchange.beginTry(at: at(now)) {
                _ = exchange.noteSent(at: at(now), time: clock(now))
                sent.append(now)
            }
            let next = exchange.nextMoment - .seconds(100)
            now = Int(next.components.seconds) * 1_000 + Int(next.components.attoseconds / 1_000_000_000_000_000)
        }
        #expect(sent == [0, 700, 1_500])
        #expect(now == 3_000)
        #expect(exchange.outcome(at: at(now))?.end == .silent)
        #expect(exchange.outcome(at: at(now))?.sent == 3)
        #expect(exchange.outcome(at: at(now))?.duration == .seconds(3))
    }

    @Test
    func `a round trip is between the stamps of the kernel`() throws {
        var exchange = exchange()
        begin(&exchange, 0)
        let number = exchange.noteSent(at: at(0), time: clock(0))
        exchange.noteStamp(clock(3), of: number)
        answer(&exchange, 20, stamped: 15)
        let outcome = try #require(exchange.outcome(at: at(20)))
        #expect(outcome.end == .answered)
        #expect(outcome.answers.first?.timing == ReplyTiming(elapsed: .milliseconds(20), roundTrip: .milliseconds(12)))
    }

    @Test
    func `a clock that is set, and a stamp of another datagram, make no round trip`() {
        for (sent, received) in [(3, 2), (3, 90_000), (-5, 15)] {
            var exchange = exchange()
            begin(&exchange, 0)
            exchange.noteStamp(clock(sent), of: exchange.noteSent(at: at(0), time: clock(0)))
            answer(&exchange, 20, stamped: received)
            let timing = exchange.outcome(at: at(20))?.answers.first?.timing
            #expect(timing == ReplyTiming(elapsed: .milliseconds(20), roundTrip: nil))
        }
    }

    @Test
    func `after a second datagram it is not known which one was answered, unless that is said`() {
        for (number, expected) in [(nil, nil), (1, Duration.milliseconds(50)), (0, .milliseconds(750))] {
            var exchange = exchange()
            for now in [0, 700] {
                begin(&exchange, now)
                exchange.noteStamp(clock(now), of: exchange.noteSent(at: at(now), time: clock(now)))
            }
            answer(&exchange, 750, to: number)
            #expect(exchange.outcome(at: at(750))?.answers.first?.timing.roundTrip == expected)
        }
    }

    @Test
    func `a refusal ends it at once, want of room only at its end`() {
        for (cause, ends) in [(SystemError.notPermitted, 0), (.noBufferSpace, 3_000)] {
            var exchange = exchange()
            begin(&exchange, 0)
            let error = SocketError(.send(address), cause)
            exchange.noteFailure(error)
            #expect((exchange.outcome(at: at(0)) == nil) == (ends > 0))
            #expect(exchange.outcome(at: at(ends))?.end == .notSent(error))
        }
    }

    @Test
    func `a try that may not be is left out, and one whose tries all were ends`() {
        let isFree = Locked(false)
        var exchange = exchange { $0.maySend = { isFree.withLock { $0 } } }
        for now in [0, 700] {
            leaveOut(&exchange, now)
            #expect(exchange.outcome(at: at(now)) == nil)
        }
        var other = exchange
        leaveOut(&other, 1_500)
        #expect(other.outcome(at: at(1_500))?.end == .withheld)
        isFree.withLock { $0 = true }
        begin(&exchange, 1_500)
        _ = exchange.noteSent(at: at(1_500), time: clock(1_500))
        #expect(exchange.outcome(at: at(1_500)) == nil)
        #expect(exchange.outcome(at: at(3_000))?.end == .silent)
    }

    @Test
    func `a stranger who sends much is kept within bounds`() {
        var exchange = exchange { $0.accepts = { $0 == [9] } }
        begin(&exchange, 0)
        _ = exchange.noteSent(at: at(0), time: clock(0))
        for _ in 0..<1_000 { answer(&exchange, 1) }
        #expect(exchange.outcome(at: at(1)) == nil)
        // The one that is waited for is taken all the same.
        exchange.noteAnswer(from: address, [9], isTruncated: false, control: control(2), to: nil, at: at(2))
        let outcome = exchange.outcome(at: at(2))
        #expect(outcome?.end == .answered)
        #expect(outcome?.answers.count == 17)
    }
}
