import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Who watches a session.
struct EventMonitorTests {
    private struct Recorder: EventMonitor {
        let sink: AsyncStream<RequestEvent>.Continuation
        func handle(_ event: RequestEvent) async { sink.yield(event) }
    }

    private struct Stuck: EventMonitor {
        let gate: AsyncStream<Void>
        let sink: AsyncStream<RequestEvent>.Continuation

        func handle(_ event: RequestEvent) async {
            for await _ in gate { break }
            sink.yield(event)
        }
    }

    @Test func `everything is told in order`() async throws {
        let replies = Replies([Reply(status: 503), Reply("ok")])
        let (events, sink) = AsyncStream.makeStream(of: RequestEvent.self)
        try await withServer({ _ in replies.next() }) { lab in
            let session = try lab.session(monitors: [Recorder(sink: sink)])
            _ = try await session.request(lab.server.url()).serializingString().value
            var names: [String] = []
            for await event in events {
                switch event {
                case .began(1, _): names.append("began")
                case .retry(1, .waiting): names.append("waiting")
                case .retry(1, .ended): names.append("ended")
                case .answered(1, let head): names.append("\(head.statusCode)")
                case .finished(1, let metrics, nil): names.append("finished after \(metrics.attempts.count)")
                default: names.append("\(event)")
                }
                if case .finished = event { break }
            }
            #expect(names == ["began", "waiting", "200", "ended", "finished after 2"])
        }
    }

    @Test func `a monitor that is stuck holds up nobody, and is told how much it missed`() async {
        let (gate, key) = AsyncStream.makeStream(of: Void.self)
        let (events, sink) = AsyncStream.makeStream(of: RequestEvent.self)
        let monitors = MonitorList([Stuck(gate: gate, sink: sink)])
        let request = URLRequest(text: "http://h/")
        for number in 1...3000 { monitors.tell(.began(UInt64(number), request)) }
        key.finish()
        // It may begin late, so that what it missed is told in several parts.
        var (told, missed, last) = (0, 0, UInt64(0))
        while last < 3001, let event = await first(of: events) {
            switch event {
            case .began(let number, _):
                (told, last) = (told + 1, number)
                if number == 1024 { monitors.tell(.began(3001, request)) }
            case .missed(let count): missed += count
            default: break
            }
        }
        #expect(told + missed == 3001 && told >= 1025)
    }

    private func first(of events: AsyncStream<RequestEvent>) async -> RequestEvent? {
        for await event in events { return event }
        return nil
    }
}
