import Foundation
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import Testing

/// Notifications, closures for events, and the timeline of Alamofire 4.
struct SeeingTests {
    private func withServer(_ reply: ScriptedReply, _ body: (_ url: String) async throws -> Void) async throws {
        let server = try ScriptedServer { _ in reply }
        defer { server.stop() }
        try await body(server.url("/"))
    }

    private let ok = ScriptedReply.status(200, headers: [], body: Array("ok".utf8))

    /// The names of the notifications about a request, up to the last one.
    private func notifications(
        of request: Request,
        through last: Notification.Name,
        _ action: () async -> Void
    ) async -> [Notification.Name] {
        let names = [
            Request.didResumeNotification, Request.didSuspendNotification, Request.didCancelNotification,
            Request.didFinishNotification, Request.didResumeTaskNotification, Request.didSuspendTaskNotification,
            Request.didCancelTaskNotification, Request.didCompleteTaskNotification,
        ]
        let (stream, sink) = AsyncStream.makeStream(of: Notification.Name.self)
        let observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                if notification.request === request { sink.yield(notification.name) }
            }
        }
        defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
        await action()
        var found: [Notification.Name] = []
        for await name in stream {
            found.append(name)
            if name == last { break }
        }
        return found
    }

    @Test func `notifications of every session are posted in order`() async throws {
        try await withServer(ok) { url in
            for session in [Session(startRequestsImmediately: false), SessionManager(startRequestsImmediately: false)] {
                let request = session.request(url)
                let found = await notifications(of: request, through: Request.didFinishNotification) {
                    request.suspend().resume()
                }
                #expect(
                    found == [
                        Request.didSuspendNotification, Request.didResumeNotification,
                        Request.didResumeTaskNotification, Request.didCompleteTaskNotification,
                        Request.didFinishNotification,
                    ]
                )
            }
        }
    }

    @Test func `a notification is posted for a cancelled request`() async throws {
        try await withServer(.silence) { url in
            let request = Session(startRequestsImmediately: false).request(url)
            let monitor = ClosureEventMonitor()
            let found = await notifications(of: request, through: Request.didFinishNotification) {
                request.resume().cancel()
            }
            #expect(found.contains(Request.didCancelNotification) && monitor.requestDidFinish == nil)
        }
    }

    @Test func `notifications have the names and keys of Alamofire 4`() async throws {
        try await withServer(ok) { url in
            let (bodies, sink) = AsyncStream.makeStream(of: Data?.self)
            let request = AF.request("\(url)version-4")
            let observer = NotificationCenter.default.addObserver(
                forName: Notification.Name.Task.DidComplete,
                object: request,
                queue: nil
            ) { notification in
                let task = notification.userInfo?[Notification.Key.Task] as? URLSessionTask
                #expect(task?.originalRequest?.url?.path == "/version-4")
                sink.yield(notification.userInfo?[Notification.Key.ResponseData] as? Data)
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            for await body in bodies {
                #expect(body == Data("ok".utf8))
                break
            }
            _ = AlamofireNotifications()
            #expect(Notification(name: Notification.Name.Task.DidResume).request == nil)
            #expect(Set([Notification.Name.Task.DidSuspend, Notification.Name.Task.DidCancel]).count == 2)
        }
    }

    /// The expectations of Alamofire's test of ClosureEventMonitor.
    @Test func `closures receive events, also if they are set after the request was created`() async throws {
        try await withServer(ok) { url in
            let monitor = ClosureEventMonitor()
            let session = Session(startRequestsImmediately: false, eventMonitors: [monitor])
            let names = Locked<[String]>([])
            @Sendable func note(_ name: String) { names.withLock { $0.append(name) } }
            monitor.requestDidCreateInitialURLRequest = { _, _ in note("initial") }
            monitor.requestDidCreateURLRequest = { _, _ in note("request") }
            monitor.requestDidCreateTask = { _, _ in note("task") }
            monitor.dataTaskDidReceiveResponse = { _, _, response in note("\(response.statusCode)") }
            monitor.requestDidValidateRequestResponseDataWithResult = { _, _, _, data, _ in note("\(data?.count ?? 0)")
            }
            monitor.requestDidGatherMetrics = { _, metrics in note("metrics of \(metrics.attempts.count)") }
            monitor.taskDidFinishCollectingMetrics = { used, _, _ in note(used === session ? "of session" : "") }
            monitor.taskDidComplete = { _, _, error in note("complete \(error == nil)") }
            monitor.requestDidCompleteTaskWithError = { _, _, error in note("task \(error == nil)") }
            monitor.requestDidFinish = { request in note("finish \(request.isFinished)") }
            monitor.requestDidParseResponse = { _, response in note("\(response.data?.count ?? 0) bytes") }
            let request = session.request(url).validate(statusCode: 200..<300)
            monitor.requestDidResume = { _ in note("resume") }
            monitor.requestDidResumeTask = { [unowned request] _, _ in note("resume \(request.isResumed)") }
            await withCheckedContinuation { continuation in
                request.response { _ in continuation.resume() }.resume()
            }
            #expect(
                names.withLock { $0 } == [
                    "resume", "initial", "request", "task", "resume true", "200", "2", "metrics of 1", "of session",
                    "complete true", "task true", "finish true", "2 bytes",
                ]
            )
            monitor.requestDidFinish = nil
            #expect(monitor.requestDidFinish == nil && monitor.requestDidResume != nil)
        }
    }

    @Test func `a monitor in a file that imports Foundation receives events`() async throws {
        try await withServer(ok) { url in
            let monitor = LoggingMonitor()
            _ = await Session(eventMonitors: [monitor]).request(url).serializingString().response
            monitor.queue.sync {}
            #expect(monitor.lines.all == ["task", "0 redirects, true", "String"])
        }
    }

    @Test func `dates are encoded by a formatter of Foundation, and AFInfo has the version`() throws {
        #expect(try formattedDate(Date(timeIntervalSince1970: 0)) == "date=1970" && AFInfo.version == "5.12.0")
    }

    @Test func `the times of a timeline are in order`() async throws {
        try await withServer(ok) { url in
            let before = Date().timeIntervalSinceReferenceDate
            let response = await AF.request(url).serializingString().response
            let (timeline, after) = (response.timeline, Date().timeIntervalSinceReferenceDate)
            #expect(before <= timeline.requestStartTime && timeline.requestStartTime < timeline.initialResponseTime)
            #expect(timeline.initialResponseTime <= timeline.requestCompletedTime)
            #expect(timeline.requestCompletedTime <= timeline.serializationCompletedTime)
            #expect(timeline.serializationCompletedTime <= after)
            #expect(abs(timeline.totalDuration - timeline.requestDuration - timeline.serializationDuration) < 1e-6)
            #expect(timeline.latency <= timeline.requestDuration)
        }
        #expect(await AF.request("").serializingString().response.timeline == Timeline())
    }

    @Test func `the text of a timeline contains its durations`() {
        let timeline = ReachabilityAlamofire.Timeline(
            requestStartTime: 1,
            initialResponseTime: 1.25,
            requestCompletedTime: 2,
            serializationCompletedTime: 2.5
        )
        let durations = "latency 0.25 s, request 1.0 s, serialization 0.5 s, total 1.5 s"
        #expect(timeline.description == durations)
        #expect("\(timeline)" == durations)
        let times = "start 1.0 s, answer 1.25 s, result 2.0 s, serialized 2.5 s"
        #expect(timeline.debugDescription == "\(times), \(durations)")
    }
}

/// A thread-safe list of lines.
final class Lines: Sendable {
    private let lines = Locked<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
