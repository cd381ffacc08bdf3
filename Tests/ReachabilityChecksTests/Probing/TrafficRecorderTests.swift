import LinuxSupport
import Testing

@testable import ReachabilityChecks

@Suite struct TrafficRecorderTests {
    private func reading(_ port: UInt16, sent: Int, again: Int = 0, lost: Int = 0, age: Int = 100) -> ConnectionReading
    {
        let address = WireAddress(ipv4: 0xc000_0201)
        return ConnectionReading(
            ends: .init(local: address, localPort: port, remote: address, remotePort: 443),
            age: .seconds(age),
            sent: sent,
            retransmitted: again,
            lost: lost
        )
    }

    @Test func `the first reading has no differences`() {
        var recorder = TrafficRecorder()
        recorder.take([reading(1, sent: 1000, again: 1000)])
        #expect(!recorder.isStalled && recorder.sent == 0)
    }

    @Test(arguments: [(9, 9, 0, false), (10, 8, 0, true), (10, 7, 0, false), (10, 2, 6, true), (100, 79, 0, false)])
    func `a line is stalled if nearly all segments are lost`(sent: Int, again: Int, lost: Int, isStalled: Bool) {
        var recorder = TrafficRecorder()
        recorder.take([reading(1, sent: 500, again: 300)])
        recorder.take([reading(1, sent: 500 + sent, again: 300 + again, lost: lost)])
        #expect(recorder.isStalled == isStalled)
        // The next reading counts only new segments.
        recorder.take([reading(1, sent: 500 + sent, again: 300 + again, lost: lost)])
        #expect(!recorder.isStalled)
    }

    @Test func `a working connection compensates for a stalled one`() {
        var recorder = TrafficRecorder()
        recorder.take([reading(1, sent: 0), reading(2, sent: 0)])
        recorder.take([reading(1, sent: 10, again: 10), reading(2, sent: 100, again: 1)])
        #expect(!recorder.isStalled && recorder.sent == 110 && recorder.retransmitted == 11)
    }

    @Test func `a new connection between the same endpoints is counted separately`() {
        var recorder = TrafficRecorder()
        recorder.take([reading(1, sent: 100, again: 50)])
        recorder.take([reading(1, sent: 20, again: 20)])
        #expect(!recorder.isStalled)
    }

    @Test func `only the newest connections are returned, latest first`() {
        var recorder = TrafficRecorder()
        recorder.take((0..<100).map { reading(UInt16($0), sent: 1, age: 99 - $0) })
        #expect(recorder.newest(within: .seconds(30)).map(\.age) == (0..<8).map { .seconds($0) })
        #expect(recorder.newest(within: .zero).isEmpty)
    }
}
