import Dispatch
import FoundationEssentials
import LinuxSupport
import NetworkLab
import Testing

@testable import ReachabilityRequests

/// The times at which requests are created, adapted and sent.
struct StartTests {
    /// A timer that the test fires.
    private final class ManualTimer: Sendable {
        private let actions = Locked<[@Sendable () -> Void]>([])

        var count: Int { actions.withLock { $0.count } }

        func add(_ action: @escaping @Sendable () -> Void) { actions.withLock { $0.append(action) } }

        func fire() {
            let actions = actions.withLock { actions in
                defer { actions = [] }
                return actions
            }
            for action in actions { action() }
        }
    }

    private func session(_ base: Session, _ timer: ManualTimer) -> Session {
        Session(base, base.settings, ActiveRequests { timer.add($0) })
    }

    private func adding(_ letter: String) -> Adapter {
        Adapter { request, _, completion in
            var request = request
            request.headers["Trace"] = (request.headers["Trace"] ?? "") + letter
            completion(.success(request))
        }
    }

    @Test func `requests without a handler share a timer, and are sent when it fires for the second time`() async throws
    {
        try await withServer({ _ in Reply("x") }) { lab in
            let timer = ManualTimer()
            let session = try session(lab.session(), timer)
            let first = session.request(lab.server.url())
            let second = session.request(lab.server.url())
            #expect(timer.count == 1)
            session.withAllRequests { #expect($0 == [first, second]) }
            timer.fire()
            let third = session.request(lab.server.url())
            #expect(timer.count == 1 && [first, second, third].allSatisfy(\.isInitialized))
            timer.fire()
            #expect(!first.isInitialized && !second.isInitialized && third.isInitialized && timer.count == 1)
            for request in [first, second] { #expect(try await request.serializingString().value == "x") }
            #expect(lab.server.seen.count == 2)
            timer.fire()
            #expect(try await third.serializingString().value == "x" && timer.count == 0)
        }
    }

    @Test func `a stream without a reader is not sent`() throws {
        let timer = ManualTimer()
        weak var released: DataStreamRequest?
        do {
            let request = session(Session(), timer).streamRequest("http://127.0.0.1:1/")
            released = request
            #expect(request.isInitialized && timer.count == 0)
        }
        #expect(released == nil)
    }

    @Test func `the timer does not send a request that was sent, has ended or was cancelled`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let timer = ManualTimer()
            let session = try session(lab.session(), timer)
            weak var released: DataRequest?
            do {
                let request = session.request(lab.server.url())
                released = request
                #expect(try await request.serializingString().value == "x")
            }
            session.request(lab.server.url()).cancel()
            session.withAllRequests { #expect($0.isEmpty) }
            #expect(try await eventually { released == nil })
            timer.fire()
            #expect(timer.count == 0 && lab.server.seen.count == 1)
        }
    }

    @Test func `adapters, retriers and validations that are chained apply before the request is sent`() async throws {
        let replies = Replies([Reply("no", status: 401), Reply("yes")])
        try await withServer({ _ in replies.next() }) { lab in
            let order = Locked<[String]>([])
            @Sendable func retrier(_ name: String, _ result: RetryResult) -> Retrier {
                Retrier { _, _, error, completion in
                    order.withLock { $0.append("\(name) \(error.asAFError?.responseCode ?? 0)") }
                    completion(result)
                }
            }
            let session = try session(
                lab.session(interceptor: Interceptor(adapters: [adding("b")], retriers: [retrier("b", .doNotRetry)])),
                ManualTimer()
            )
            let first = Interceptor(adapters: [adding("a")], retriers: [retrier("a", .doNotRetry)])
            let fourth = Interceptor(adapters: [adding("d")], retriers: [retrier("d", .retry)])
            let request = session.request(lab.server.url(), interceptor: first)
            #expect(request.isInitialized && request.interceptor != nil)
            let value = await withCheckedContinuation { continuation in
                request.validate().adapt(using: adding("c")).retry(using: retrier("c", .doNotRetry)).interceptor(fourth)
                    .responseString { continuation.resume(returning: $0.value) }
            }
            #expect(value == "yes" && lab.server.seen.map { $0.fields["trace"] } == ["abcd", "abcd"])
            #expect(order.withLock { $0 } == ["a 401", "b 401", "c 401", "d 401"])
        }
    }

    @Test func `shouldAutomaticallyResume overrides the setting of the session`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let timer = ManualTimer()
            let held = try session(lab.session(), timer).request(lab.server.url(), shouldAutomaticallyResume: false)
            held.response { _ in }
            #expect(held.isInitialized && timer.count == 0)
            held.resume()
            #expect(!held.isInitialized)
            let other = try session(lab.session(startRequestsImmediately: false), timer)
            let automatic = other.request(lab.server.url(), shouldAutomaticallyResume: true)
            #expect(timer.count == 1)
            automatic.response { _ in }
            #expect(!automatic.isInitialized)
        }
    }

    @Test func `a request is created again for each attempt after a failed one, with its own timeout`() async throws {
        let (isFirst, count) = (Locked(true), Locked(0))
        try await withServer({ seen in
            let isSilent = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            return isSilent ? .silence : Reply(seen.fields["number"] ?? "-")
        }) { lab in
            let session = try lab.session()
            let request = session.request(lab.server.url()) { request in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                request.timeoutInterval = number == 1 ? 0.05 : 60
                request.headers["Number"] = "\(number)"
            }
            #expect(try await request.serializingString().value == "2")
            #expect(
                request.requests.map { $0.headers["Number"] } == ["1", "2"] && request.performedRequests.count == 2
            )
            #expect(lab.server.seen.count == 2 && request.tasks.first?.state == .completed)
        }
    }

    @Test func `redirects and challenges do not create a request again, and an error of a later creation ends it`()
        async throws
    {
        struct Refusal: Error {}
        let count = Locked(0)
        try await withServer({ seen in
            switch (seen.path, seen.fields["authorization"]) {
            case ("/", _): Reply(status: 302, fields: ["Location": "/b"])
            case ("/b", nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"a\""])
            case ("/busy", _): Reply(status: 503)
            default: Reply("ok")
            }
        }) { lab in
            let session = try lab.session()
            let modifier: Session.RequestModifier = { _ in
                if count.withLock({ count in
                    count += 1
                    return count
                }) == 3 {
                    throw Refusal()
                }
            }
            let request = session.request(lab.server.url(), requestModifier: modifier)
                .authenticate(username: "a", password: "b")
            #expect(try await request.serializingString().value == "ok" && count.withLock { $0 } == 1)
            let failing = session.request(lab.server.url("/busy"), requestModifier: modifier)
            let error = await failing.serializingString().response.error
            #expect(error?.isCreateURLRequestError == true && error?.underlyingError is Refusal)
            #expect(count.withLock { $0 } == 3)
        }
    }

    @Test func `an eager session adapts a request at its creation, and sends it later`() async throws {
        let recorder = EventRecorder()
        let count = Locked(0)
        try await withServer({ Reply($0.fields["trace"] ?? "-") }) { lab in
            let counting = Adapter { request, _, completion in
                count.withLock { $0 += 1 }
                completion(.success(request))
            }
            let session = try lab.session(
                interceptor: Interceptor(adapters: [adding("1"), counting]),
                monitors: [recorder],
                startRequestsImmediately: false,
                requestSetup: .eager
            )
            let request = session.request(lab.server.url())
            #expect(await recorder.events(through: "task") == ["initial", "adapted - to 1", "request", "task"])
            #expect(request.isInitialized && lab.server.seen.isEmpty && request.request?.headers["Trace"] == "1")
            request.suspend().suspend()
            #expect(await recorder.events(through: "suspend task") == ["suspend", "suspend task"])
            #expect(request.isSuspended && lab.server.seen.isEmpty)
            request.resume()
            #expect(try await request.serializingString().value == "1" && count.withLock { $0 } == 1)
            #expect(await recorder.events(through: "resume task") == ["resume", "resume task"])
            let cancelled = session.request(lab.server.url())
            session.withAllRequests { #expect($0 == [cancelled]) }
            session.cancelAllRequests()
            #expect(await cancelled.serializingString().response.error?.isExplicitlyCancelledError == true)
            #expect(cancelled.isCancelled && lab.server.seen.count == 1)
        }
    }

    @Test func `an eager session sends a request at its first handler, and reports an error of an adapter`()
        async throws
    {
        struct Refusal: Error {}
        try await withServer({ _ in Reply("x") }) { lab in
            let session = try lab.session(requestSetup: .eager)
            let value = await withCheckedContinuation { continuation in
                session.request(lab.server.url()).responseString { continuation.resume(returning: $0.value) }
            }
            #expect(value == "x")
            let failing = Adapter { _, _, completion in completion(.failure(Refusal())) }
            let refused = session.request(lab.server.url(), interceptor: failing)
            #expect(await refused.serializingString().response.error?.underlyingError is Refusal)
            #expect(lab.server.seen.count == 1)
        }
    }
}

/// The attempts of a request.
struct AttemptTests {
    @Test func `an attempt has the state of its request`() async throws {
        try await withServer({ _ in .silence }) { lab in
            let request = try lab.session().request(lab.server.url())
            #expect(request.lastTask == nil)
            request.resume()
            for await _ in lab.server.arrivals { break }
            #expect(request.lastTask?.state == .running)
            #expect(request.suspend().lastTask?.state == .suspended)
            let state = request.cancel().lastTask?.state
            #expect(state == .canceling || state == .completed)
        }
    }
}
