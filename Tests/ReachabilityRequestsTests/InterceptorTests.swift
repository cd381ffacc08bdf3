import FoundationEssentials
import LinuxSupport
import ReachabilityRetry
import Testing

@testable import ReachabilityRequests

/// Interceptors with Alamofire's signatures, asked by a session.
struct InterceptorTests {
    @Test func `an error of a retrier's own is told as such, with the failure, and what was sent`() async throws {
        struct Own: Error {}
        try await withServer({ _ in Reply(status: 401) }) { lab in
            let retriers = [
                Retrier { request, _, completion in
                    completion(request.retryCount == 0 ? .retry : .doNotRetryWithError(Own()))
                }
            ]
            let adapter = Adapter { request, completion in
                var request = request
                request["Number"] = "1"
                completion(.success(request))
            }
            let session = try lab.session(interceptor: Interceptor(adapters: [adapter], retriers: retriers))
            let request = session.request(lab.server.url()).validate()
            #expect(request.retryCount == 0)
            let response = await request.response(using: DataResponseSerializer())
            guard case .requestRetryFailed(let own, let original)? = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(own is Own && (original as? RequestError)?.responseCode == 401)
            #expect(response.error?.isRequestRetryError == true && response.error?.underlyingError is Own)
            #expect(request.retryCount == 1 && lab.server.seen.count == 2)
            #expect(response.metrics.sentRequest?["Number"] == "1" && response.request.headers["Number"] == nil)
        }
    }

    /// Keeps what it is told.
    private final class Witness: SessionInterceptor {
        let states = Locked<[RequestAdapterState]>([])
        let heads = Locked<[ResponseHead?]>([])
        let counts = Locked<[Int]>([])

        func adapt(
            _ urlRequest: PlainRequest,
            using state: RequestAdapterState,
            completion: @escaping @Sendable (Result<PlainRequest, any Error>) -> Void
        ) {
            states.withLock { $0.append(state) }
            completion(.success(urlRequest))
        }

        func retry(
            _ request: FailedRequest,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            heads.withLock { $0.append(request.response) }
            counts.withLock { $0.append(request.retryCount) }
            completion(request.retryCount < 2 ? .retry : .doNotRetry)
        }
    }

    @Test func `they are told the session, the same request in each attempt, and the answer`() async throws {
        let witness = Witness()
        try await withServer({ _ in Reply("x", status: 401, fields: ["WWW-Authenticate": "Bearer realm=\"a\""]) }) {
            lab in
            let session = try lab.session(
                interceptor: Interceptor(interceptors: [Interceptor(interceptors: [witness])])
            )
            _ = try? await session.request(lab.server.url()).validate().string()
            _ = try? await session.request(lab.server.url()).string()
            let states = witness.states.withLock { $0 }
            #expect(states.count == 4 && states.allSatisfy { $0.session === session })
            #expect(Set(states.map(\.requestID)).count == 2 && Set(states[..<3].map(\.requestID)).count == 1)
            #expect(witness.counts.withLock { $0 } == [0, 1, 2])
            let heads = witness.heads.withLock { $0 }
            #expect(heads.map { $0?.headers["WWW-Authenticate"] } == Array(repeating: "Bearer realm=\"a\"", count: 3))
        }
    }

    @Test func `the request's own come before the session's`() async throws {
        func adding(_ letter: String) -> Adapter {
            Adapter { request, session, completion in
                var request = request
                request["Trace"] = (request["Trace"] ?? "") + letter
                completion(.success(request))
            }
        }
        try await withServer({ _ in Reply("x") }) { lab in
            let session = try lab.session(interceptor: adding("b"))
            _ = try await session.request(lab.server.url(), interceptor: adding("a")).string()
            #expect(lab.server.seen.map { $0.fields["trace"] } == ["ab"])
        }
    }

    @Test func `an adapter's error ends it, and no retrier is asked`() async throws {
        struct Refusal: Error {}
        let witness = Witness()
        try await withServer({ _ in Reply("x") }) { lab in
            let refusing = Adapter { request, session, completion in completion(.failure(Refusal())) }
            let session = try lab.session(interceptor: Interceptor(interceptors: [refusing, witness]))
            let error = await #expect(throws: RequestError.self) {
                try await session.request(lab.server.url()).string()
            }
            guard case .requestAdaptationFailed(let cause)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(cause is Refusal && lab.server.seen.isEmpty && witness.counts.withLock { $0.isEmpty })
        }
    }

    @Test func `a completion that is called twice, or late, counts once`() async throws {
        try await withServer({ Reply("x", status: $0.fields["trace"] == "1" ? 200 : 404) }) { lab in
            let eager = Adapter { request, session, completion in
                Task.detached {
                    var first = request
                    first["Trace"] = "1"
                    completion(.success(first))
                    completion(.success(request))
                }
            }
            let session = try lab.session(interceptor: eager)
            #expect(try await session.request(lab.server.url()).validate().string() == "x")
            #expect(lab.server.seen.count == 1)
        }
    }

    @Test func `one that never calls its completion is ended by a cancellation`() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        try await withServer({ _ in Reply("x") }) { lab in
            let silent = Adapter { request, session, completion in ask.yield() }
            let request = try lab.session(interceptor: silent).request(lab.server.url())
            let task = Task { try await request.string() }
            for await _ in asked { break }
            request.cancel()
            await #expect(throws: RequestError.self) { try await task.value }
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `without a session an adapter that needs one refuses, and a retrier retries nothing`() async throws {
        let witness = Witness()
        let request = PlainRequest(url: "http://h/")
        await #expect(throws: MissingSession.self) { try await (witness as any RequestAdapter).adapt(request) }
        await #expect(throws: MissingSession.self) {
            try await Adapter {
                $2(.success($0)); _ = $1
            }.adapt(request)
        }
        let failed = FailedRequest(request: request, retryCount: 0, stage: .neverSent)
        let result = await (witness as any RequestRetrier).retry(failed, dueTo: MissingSession())
        guard case .doNotRetry = result else {
            Issue.record("\(result)")
            return
        }
    }
}

extension InterceptorTests {
    @Test(arguments: [0.0, -1, .nan, 0.001, .infinity])
    func `delays in seconds are never too long for a Duration`(seconds: Double) {
        switch RetryResult.retry(afterSeconds: seconds) {
        case .retry: #expect(!(seconds > 0))
        case .retryWithDelay(let delay): #expect(delay == .seconds(min(seconds, 86_400)))
        default: Issue.record("no retry")
        }
    }
}
