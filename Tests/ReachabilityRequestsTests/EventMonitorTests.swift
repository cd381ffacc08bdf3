import Dispatch
import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// The events of requests and their order on the queue of the monitor.
struct EventMonitorTests {
    private struct Refusal: Error {}

    private let begin = ["resume", "initial"]
    private let task = ["request", "task", "resume task"]
    private let end = ["metrics of 1", "complete without an error", "finish, finished"]

    /// Returns the events of a request up to the first one that begins with a text.
    private func events(
        through last: String = "parsed",
        interceptor: (any RequestInterceptor)? = nil,
        _ reply: @escaping @Sendable (Seen) -> Reply,
        of body: (SessionLab, Session) async throws -> Void
    ) async throws -> [String] {
        let recorder = EventRecorder()
        var events: [String] = []
        try await withServer(reply) { lab in
            try await body(lab, lab.session(interceptor: interceptor, monitors: [recorder]))
            events = await recorder.events(through: last)
        }
        return events
    }

    @Test func `an accepted request reports its events in order`() async throws {
        let found = try await events({ _ in Reply("ok", type: "text/plain") }) { lab, session in
            _ = await session.request(lab.server.url()).validate().serializingString().response
        }
        let checks = ["answer 200", "accepted 200 with 2 bytes", "accepted 200 with 2 bytes"]
        #expect(found == begin + task + checks + end + ["parsed String"])
    }

    @Test func `a rejected answer reports the validation, and its task has no error`() async throws {
        let found = try await events({ _ in Reply("no", status: 404) }) { lab, session in
            session.request(lab.server.url()).validate().response { _ in }
        }
        // The task has an answer, so it has no error.
        #expect(found == begin + task + ["answer 404", "rejected 404 with 2 bytes"] + end + ["parsed bytes"])
    }

    @Test func `a retry begins another task`() async throws {
        let replies = Replies([Reply(status: 503), Reply("ok")])
        let found = try await events({ _ in replies.next() }) { lab, session in
            _ = await session.request(lab.server.url()).serializingData().response
        }
        let failed = ["metrics of 1", "complete without an error", "retry", "wait"]
        let last = ["metrics of 2", "complete without an error", "finish, finished", "parsed Data"]
        #expect(found == begin + task + failed + ["initial"] + task + ["answer 200"] + last)
    }

    @Test func `a lost connection is the error of its task`() async throws {
        let found = try await events(
            through: "retry",
            { _ in
                var reply = Reply("cut")
                (reply.length, reply.closes) = (10, true)
                return reply
            }
        ) { lab, session in
            session.request(lab.server.url()).response { _ in }
        }
        #expect(found == begin + task + ["answer 200", "metrics of 1", "complete failed", "retry"])
    }

    @Test func `redirects and challenges do not begin another task`() async throws {
        let found = try await events({ seen in
            switch (seen.path, seen.fields["authorization"]) {
            case ("/", _): Reply(status: 302, fields: ["Location": "/b"])
            case (_, nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"a\""])
            default: Reply("ok")
            }
        }) { lab, session in
            let request = session.request(lab.server.url()).authenticate(username: "a", password: "b")
            _ = await request.serializingData().response
        }
        let answers = ["answer 302", "answer 401", "wait", "answer 200"]
        #expect(found == begin + task + answers + ["metrics of 3"] + end.dropFirst() + ["parsed Data"])
    }

    @Test func `adapters report the adapted request or their error`() async throws {
        let adapter = Adapter { request, _, completion in
            var request = request
            request.headers["Trace"] = "1"
            completion(.success(request))
        }
        let found = try await events(interceptor: adapter, { _ in Reply("ok") }) { lab, session in
            _ = await session.request(lab.server.url()).serializingData().response
        }
        #expect(found == begin + ["adapted - to 1"] + task + ["answer 200"] + end + ["parsed Data"])

        let refusing = Adapter { _, _, completion in completion(.failure(Refusal())) }
        let failed = try await events(interceptor: refusing, { _ in Reply("ok") }) { lab, session in
            _ = await session.request(lab.server.url()).serializingData().response
        }
        #expect(failed == begin + ["not adapted", "finish, finished", "parsed Data"])
    }

    @Test func `a request that cannot be created reports its error`() async throws {
        let found = try await events({ _ in Reply("ok") }) { _, session in
            _ = await session.request("http://h/", requestModifier: { _ in throw Refusal() }).serializingData().response
        }
        #expect(found == ["resume", "not created", "finish, finished", "parsed Data"])
    }

    @Test func `a cancelled request reports the cancellation and then its end`() async throws {
        let cancelled = ["cancel", "cancel task", "metrics of 0", "complete cancelled", "finish, cancelled"]
        let found = try await events({ _ in .silence }) { lab, session in
            let request = session.request(lab.server.url()).response { _ in }
            for await _ in lab.server.arrivals { break }
            request.cancel().cancel()
        }
        #expect(found == begin + task + cancelled + ["parsed bytes"])
        // The only waiting task is cancelled.
        let deserted = try await events(through: "finish", { _ in .silence }) { lab, session in
            let waiting = Task { await session.request(lab.server.url()).serializingData().response }
            for await _ in lab.server.arrivals { break }
            waiting.cancel()
            _ = await waiting.value
        }
        #expect(deserted.filter { $0 != "parsed Data" } == begin + task + cancelled)
        // The request is cancelled before it is sent.
        let recorder = EventRecorder()
        let session = Session(startRequestsImmediately: false, eventMonitors: [recorder])
        session.request("http://127.0.0.1:1/").cancel().response { _ in }
        #expect(await recorder.events(through: "parsed") == ["cancel", "finish, cancelled", "parsed bytes"])
    }

    @Test func `suspend and resume are reported once for each change`() async throws {
        let recorder = EventRecorder()
        try await withServer({ _ in .silence }) { lab in
            let session = try lab.session(monitors: [recorder], startRequestsImmediately: false)
            let request = session.request(lab.server.url()).suspend().suspend().resume()
            for await _ in lab.server.arrivals { break }
            request.resume().suspend().suspend().resume().cancel().resume().suspend()
            let found = await recorder.events()
            let changes = ["suspend", "suspend task", "resume", "resume task", "cancel", "cancel task"]
            let expected: [String] = ["suspend"] + begin + task + changes
            #expect(Array(found.prefix(12)) == expected)
            #expect(found.suffix(1) == ["finish, cancelled"])
        }
    }

    @Test func `a download reports its place, its file and its validations`() async throws {
        try await withFolder { folder in
            let place = URL(filePath: "\(folder)/a/place")
            let download = try await events({ _ in Reply("ok") }) { lab, session in
                session.download(lab.server.url(), to: { _, _ in (place, .createIntermediateDirectories) })
                    .validate(statusCode: [200]).validate { _, _, _ in .success(()) }.response { _ in }
            }
            let answer = ["answer 200", "head accepted", "file accepted", "place place"]
            #expect(download == begin + task + answer + ["file place"] + end + ["parsed file"])

            let refused = try await events({ _ in Reply("ok") }) { lab, session in
                session.download(lab.server.url(), to: { _, _ in (place, []) }).responseData { _ in }
            }
            let early = [
                "answer 200", "place place", "no file", "early error", "metrics of 1", "complete with an error",
            ]
            #expect(refused == begin + task + early + ["finish, finished", "parsed Data"])

            let rejected = try await events({ _ in Reply("ok", status: 404) }) { lab, session in
                session.download(lab.server.url()).validate().response { _ in }
            }
            #expect(rejected == begin + task + ["answer 404", "head rejected"] + end + ["parsed file"])
        }
    }

    @Test func `a download that continues begins another task`() async throws {
        let body = String(repeating: "x", count: 100_000)
        let found = try await events({ seen in
            var reply = Reply(body, fields: ["ETag": "\"1\""])
            // "bytes=START-"
            guard
                let start = seen.fields["range"]?.split(whereSeparator: { "=-".contains($0) }).last.flatMap({ Int($0) })
            else {
                (reply.body, reply.length, reply.closes) = (Array(body.utf8.prefix(90_000)), 100_000, true)
                return reply
            }
            reply.status = 206
            reply.body = Array(body.utf8.dropFirst(start))
            reply.fields["Content-Range"] = "bytes \(start)-99999/100000"
            return reply
        }) { lab, session in
            session.overriding { $0.policy = .singleAttempt }.download(lab.server.url()).response { response in
                response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
            }
        }
        #expect(found.filter { $0 == "task" || $0 == "retry" } == ["task", "retry", "task"])
        #expect(found.filter { $0.hasPrefix("complete") } == ["complete failed", "complete without an error"])
    }

    @Test func `an upload reports its body or the error of the body`() async throws {
        let found = try await events({ _ in Reply("ok") }) { lab, session in
            _ = await session.upload(Data([1]), to: lab.server.url()).serializingData().response
        }
        #expect(found == ["resume", "body", "initial"] + task + ["answer 200"] + end + ["parsed Data"])

        let stream = try await events({ _ in Reply("ok") }) { lab, session in
            _ = await session.upload(InputStream(data: Data([1])), to: lab.server.url()).serializingData().response
        }
        #expect(stream == ["resume", "body", "initial"] + task + ["stream", "answer 200"] + end + ["parsed Data"])

        let failed = try await events({ _ in Reply("ok") }) { lab, session in
            let request = session.upload(multipartFormData: { _ in throw Refusal() }, to: lab.server.url())
            _ = await request.serializingData().response
        }
        #expect(failed == ["resume", "no body", "finish, finished", "parsed Data"])
    }

    @Test func `a stream reports its validations and each parsed value`() async throws {
        let reply = Reply("1\n2\nx\n", type: "application/json")
        let found = try await events(through: "finish", { _ in reply }) { lab, session in
            session.streamRequest(lab.server.url()).validate().responseStreamDecodable(of: Int.self) { _ in }
        }
        let parsed = ["stream parsed 1", "stream parsed 2", "stream parsed an error"]
        #expect(found.filter { !parsed.contains($0) } == begin + task + ["answer 200"] + accepted(2) + end)

        let values = try await events(through: "stream parsed 1", { _ in reply }) { lab, session in
            for try await value in session.streamRequest(lab.server.url()).decodables(of: Int.self) {
                #expect(value == 1)
                break
            }
        }
        #expect(values.last == "stream parsed 1")
    }

    private func accepted(_ count: Int) -> [String] { Array(repeating: "stream accepted", count: count) }

    @Test func `a monitor of one request receives its events after that of the session`() async throws {
        let (recorder, own, order) = (EventRecorder(), EventRecorder(), Locked<[String]>([]))
        let first = Ordered(name: "session", order: order)
        try await withServer({ _ in Reply("ok") }) { lab in
            let session = try lab.session(monitors: [recorder, first], startRequestsImmediately: false)
            let request = session.request(lab.server.url()).eventMonitor(own)
                .eventMonitor(Ordered(name: "request", order: order))
            _ = try await request.serializingString().value
            #expect(await own.events() == (await recorder.events()))
            _ = try await session.request(lab.server.url()).serializingString().value
            #expect(await recorder.events().count > 5)
        }
        first.queue.sync {}
        #expect(order.withLock { $0 } == ["session", "request", "session"])
    }

    private struct Ordered: EventMonitor {
        let name: String
        let order: Locked<[String]>

        func requestDidFinish(_ request: Request) { order.withLock { $0.append(name) } }
    }

    @Test func `several monitors of two sessions receive the same events`() async throws {
        let (recorder, other) = (EventRecorder(), EventRecorder())
        try await withServer({ _ in Reply("ok") }) { lab in
            for _ in 0..<2 {
                let session = try lab.session(monitors: [recorder, other])
                _ = try await session.request(lab.server.url()).serializingString().value
                #expect(await recorder.events() == (await other.events()))
            }
        }
    }

    /// A monitor that blocks its queue until the test opens the gate.
    private final class Stuck: EventMonitor {
        let queue = DispatchQueue(label: "stuck")
        let gate = DispatchSemaphore(value: 0)
        let (counts, sink) = AsyncStream.makeStream(of: (told: Int, missed: Int).self)

        func requestDidFinish(_ request: Request) {
            gate.wait()
            gate.signal()
            sink.yield((1, 0))
        }

        func didMissEvents(_ count: Int) { sink.yield((0, count)) }
    }

    @Test func `a blocked monitor delays no request, and receives the number of missing events`() async {
        let monitor = Stuck()
        let monitors = MonitorList([monitor])
        let request = Session(startRequestsImmediately: false).request("http://h/")
        for _ in 1...3000 { monitors.report { $0.requestDidFinish(request) } }
        monitor.gate.signal()
        var (told, missed) = (0, 0)
        for await count in monitor.counts {
            (told, missed) = (told + count.told, missed + count.missed)
            if told == 1024, missed == 0 { monitors.report { $0.requestDidFinish(request) } }
            if told + missed == 3001 { break }
        }
        #expect(told == 1025 && missed == 1976)
    }
}

/// The times in the metrics of a request.
struct RequestMetricsTests {
    @Test func `the times of a request are consistent`() async throws {
        try await withServer({ $0.path == "/" ? Reply(status: 302, fields: ["Location": "/b"]) : Reply("ok") }) { lab in
            let before = Date()
            let response = try await lab.session().request(lab.server.url()).serializingString().response
            let metrics = try #require(response.metrics)
            #expect(metrics.redirectCount == 1 && metrics.attempts.count == 2)
            #expect(metrics.taskInterval.start >= before && metrics.taskInterval.end <= Date())
            let (head, sent) = (try #require(metrics.timeToHead), try #require(metrics.attempts[1].sent))
            #expect(metrics.attempts[1].began <= sent && sent <= metrics.attempts[1].ended)
            #expect(sent <= head && head <= metrics.duration)
            #expect(metrics.connectionDuration == sent - metrics.attempts[1].began)
            #expect(metrics.requestDuration == head - sent)
            #expect(metrics.responseDuration == metrics.duration - head)
        }
    }

    @Test func `a request that was not sent has no times`() async throws {
        let session = Session()
        #expect(await session.request("").serializingString().response.metrics == nil)
        let requests: [any SerializedRequest] = [session.request("not a URL"), session.download("not a URL")]
        for request in requests {
            let metrics = try #require(await request.serializingString().response.metrics)
            #expect(metrics.attempts.isEmpty && metrics.redirectCount == 0 && metrics.duration > .zero)
            #expect(metrics.connectionDuration == nil && metrics.requestDuration == nil)
            #expect(metrics.responseDuration == nil)
        }
    }
}
