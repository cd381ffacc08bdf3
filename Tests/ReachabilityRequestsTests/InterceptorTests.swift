import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Interceptors with Alamofire's signatures in a session.
struct InterceptorTests {
    @Test func `an error of a retrier is reported together with the failure and the sent request`() async throws {
        struct Own: Error {}
        try await withServer({ _ in Reply(status: 401) }) { lab in
            let retriers = [
                Retrier { request, _, _, completion in
                    completion(request.retryCount == 0 ? .retry : .doNotRetryWithError(Own()))
                }
            ]
            let adapter = Adapter { request, _, completion in
                var request = request
                request.headers["Number"] = "1"
                request.httpBody = Data("own".utf8)
                request.method = .post
                completion(.success(request))
            }
            let session = try lab.session(interceptor: Interceptor(adapters: [adapter], retriers: retriers))
            let request = session.request(lab.server.url()).validate()
            #expect(request.retryCount == 0)
            let response = await request.serializingResponse(using: DataResponseSerializer()).response
            guard case .requestRetryFailed(let own, let original)? = response.error else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            // The serializer calls the retriers again, about the error of the request.
            guard case .requestRetryFailed(_, let first)? = original.asAFError else {
                Issue.record("\(original)")
                return
            }
            #expect(own is Own && first.asAFError?.responseCode == 401)
            #expect(response.error?.isRequestRetryError == true && response.error?.underlyingError is Own)
            #expect(request.retryCount == 1 && lab.server.seen.count == 2)
            #expect(response.request?.headers["Number"] == "1" && request.firstRequest?.headers["Number"] == nil)
            #expect(request.requests.count == 4 && request.performedRequests.count == 2)
            #expect(lab.server.seen.map(\.body) == Array(repeating: Array("own".utf8), count: 2))
            #expect(lab.server.seen.allSatisfy { $0.method == "POST" && $0.fields["content-length"] == "3" })
        }
    }

    /// An interceptor that records its calls.
    private final class Witness: RequestInterceptor {
        let states = Locked<[RequestAdapterState]>([])
        let heads = Locked<[HTTPURLResponse?]>([])
        let counts = Locked<[Int]>([])

        func adapt(
            _ urlRequest: URLRequest,
            using state: RequestAdapterState,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            states.withLock { $0.append(state) }
            completion(.success(urlRequest))
        }

        func retry(
            _ request: Request,
            for session: Session,
            dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            heads.withLock { $0.append(request.response) }
            counts.withLock { $0.append(request.retryCount) }
            completion(request.retryCount < 2 ? .retry : .doNotRetry)
        }
    }

    @Test func `interceptors receive the session, the identity of the request and the answer`() async throws {
        let witness = Witness()
        try await withServer({ _ in Reply("x", status: 401, fields: ["WWW-Authenticate": "Bearer realm=\"a\""]) }) {
            lab in
            let session = try lab.session(
                interceptor: Interceptor(interceptors: [Interceptor(interceptors: [witness])])
            )
            _ = try? await session.request(lab.server.url()).validate().serializingString().value
            _ = try? await session.request(lab.server.url()).serializingString().value
            let states = witness.states.withLock { $0 }
            #expect(states.count == 4 && states.allSatisfy { $0.session === session })
            #expect(Set(states.map(\.requestID)).count == 2 && Set(states[..<3].map(\.requestID)).count == 1)
            // After the last attempt, the serializer calls the retrier again.
            #expect(witness.counts.withLock { $0 } == [0, 1, 2, 2])
            let heads = witness.heads.withLock { $0 }
            #expect(heads.map { $0?.headers["WWW-Authenticate"] } == Array(repeating: "Bearer realm=\"a\"", count: 4))
        }
    }

    @Test func `adapters of a request are called before those of the session`() async throws {
        func adding(_ letter: String) -> Adapter {
            Adapter { request, session, completion in
                var request = request
                request.headers["Trace"] = (request.headers["Trace"] ?? "") + letter
                completion(.success(request))
            }
        }
        try await withServer({ _ in Reply("x") }) { lab in
            let session = try lab.session(interceptor: adding("b"))
            _ = try await session.request(lab.server.url(), interceptor: adding("a")).serializingString().value
            #expect(lab.server.seen.map { $0.fields["trace"] } == ["ab"])
        }
    }

    @Test(arguments: [0, 1, 3])
    func `an error of an adapter ends a request unless a retrier retries it`(retries: Int) async throws {
        let asked = Locked<[AFError?]>([])
        try await withServer({ _ in Reply("x") }) { lab in
            let refusing = Adapter { request, session, completion in
                let isLast = asked.withLock { $0.count } == 3
                completion(isLast ? .success(request) : .failure(AFError.invalidURL(url: "own")))
            }
            let retrier = Retrier { request, _, error, completion in
                asked.withLock { $0.append(error.asAFError) }
                completion(request.retryCount < retries ? .retry : .doNotRetry)
            }
            let session = try lab.session(interceptor: Interceptor(adapters: [refusing], retriers: [retrier]))
            // No request was sent, so a POST is also repeated.
            let request = session.request(lab.server.url(), method: .post)
            let response = await request.serializingData().response
            let errors = asked.withLock { $0 }
            // The serializer calls the retrier again.
            #expect(errors.count == (retries == 3 ? 3 : retries + 2))
            #expect(errors.allSatisfy { $0?.isRequestAdaptationError == true })
            #expect(lab.server.seen.count == (retries == 3 ? 1 : 0) && request.retryCount == retries)
            if retries == 3 { return #expect(response.error == nil) }
            #expect(response.error?.isRequestAdaptationError == true)
            guard case .invalidURL(let url)? = response.error?.underlyingError?.asAFError else {
                return #expect(Bool(false), "\(response)")
            }
            #expect(url as? String == "own")
        }
    }

    @Test func `an error of an adapter ends a download unless a retrier retries it`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let fails = Locked(true)
            let refusing = Adapter { request, session, completion in
                completion(fails.withLock { $0 } ? .failure(AFError.invalidURL(url: "own")) : .success(request))
            }
            let retrier = Retrier { _, _, error, completion in
                fails.withLock { $0 = false }
                completion(.retry)
            }
            let session = try lab.session(interceptor: Interceptor(adapters: [refusing], retriers: [retrier]))
            #expect(try await session.download(lab.server.url()).serializingString().value == "x")
        }
    }

    @Test func `a completion that is called twice counts once`() async throws {
        try await withServer({ Reply("x", status: $0.fields["trace"] == "1" ? 200 : 404) }) { lab in
            let eager = Adapter { request, session, completion in
                Task.detached {
                    var first = request
                    first.headers["Trace"] = "1"
                    completion(.success(first))
                    completion(.success(request))
                }
            }
            let session = try lab.session(interceptor: eager)
            #expect(try await session.request(lab.server.url()).validate().serializingString().value == "x")
            #expect(lab.server.seen.count == 1)
        }
    }

    @Test func `a request whose adapter never completes is ended by a cancellation`() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        try await withServer({ _ in Reply("x") }) { lab in
            let silent = Adapter { request, session, completion in ask.yield() }
            let request = try lab.session(interceptor: silent).request(lab.server.url())
            let task = Task { try await request.serializingString().value }
            for await _ in asked { break }
            request.cancel()
            await #expect(throws: AFError.self) { try await task.value }
            #expect(lab.server.seen.isEmpty)
        }
    }
}

extension InterceptorTests {
    @Test(arguments: [0.0, -1, .nan, 0.001, .infinity])
    func `a retry delay is limited to a day, and ignored if it is not positive`(seconds: Double) {
        let delay = RetryResult.retryWithDelay(seconds).boundedDelay
        #expect(delay == (seconds > 0 ? .seconds(min(seconds, 86_400)) : nil) && RetryResult.retry.boundedDelay == nil)
    }

    @Test(arguments: [0.0, -1, .nan, 0.001])
    func `a request is sent again after any delay`(seconds: Double) async throws {
        let replies = Replies([Reply(status: 401), Reply("x")])
        try await withServer({ _ in replies.next() }) { lab in
            let retrier = Retrier { _, _, _, completion in completion(.retryWithDelay(seconds)) }
            let session = try lab.session(interceptor: retrier)
            #expect(try await session.request(lab.server.url()).validate().serializingString().value == "x")
        }
    }

    @Test func `a body that an adapter adds is an error for GET, and is sent with another method`()
        async throws
    {
        try await withServer({ _ in Reply("x") }) { lab in
            let adding = Adapter { request, _, completion in
                var request = request
                request.httpBody = Data("body".utf8)
                completion(.success(request))
            }
            let session = try lab.session(interceptor: adding)
            let refused = await session.request(lab.server.url()).serializingData().response
            guard case .requestAdaptationFailed(let cause)? = refused.error,
                case AFError.urlRequestValidationFailed(.bodyDataInGETRequest) = cause
            else {
                Issue.record("\(refused)")
                return
            }
            #expect(lab.server.seen.isEmpty)
            _ = try await session.request(lab.server.url(), method: .patch).serializingString().value
            #expect(lab.server.seen.map(\.body) == [Array("body".utf8)])
        }
    }
}
