import Dispatch
import NetworkReachabilityTesting
import Testing

@Suite struct FakeListenerTests {
    @Test func valuesStandInTheirOrder() {
        let listener = RecordingListener<Int>()
        for value in 1...3 { listener.record(value) }
        #expect(listener.values == [1, 2, 3])
        #expect(listener.last == 3)
        listener.removeAll()
        #expect(listener.count == 0)
        #expect(listener.last == nil)
    }

    @Test func waitingEndsWithTheValue() {
        let listener = RecordingListener<Int>()
        DispatchQueue.global().async { for value in 0..<100 { listener.record(value) } }
        #expect(listener.waitForCount(100))
        #expect(listener.values == Array(0..<100))
    }

    @Test func waitingEndsWithTheTime() {
        let listener = RecordingListener<Int>()
        listener.record(1)
        #expect(!listener.waitForCount(2, timeout: .milliseconds(20)))
        #expect(listener.waitForCount(1, timeout: .zero))
    }

    @Test func waitingNeedsNoThread() async {
        let listener = RecordingListener<Int>()
        listener.record(1)
        #expect(await listener.waitForCount(1, timeout: .zero))
        #expect(await !listener.waitForCount(2, timeout: .milliseconds(20)))
    }
}
