import FoundationEssentials
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import Testing

/// The behaviour of code that was written for Alamofire.
struct CompiledCodeTests {
    private let session = Session(startRequestsImmediately: false)
    private let request: URLRequest

    init() throws { request = try URLRequest(url: "https://example.org/", method: .get) }

    private func adapted(by adapter: any RequestAdapter) async throws -> URLRequest {
        try await withCheckedThrowingContinuation { continuation in
            adapter.adapt(request, for: session) { continuation.resume(with: $0) }
        }
    }

    private func decision(_ retrier: any RequestRetrier, _ request: Request, _ error: any Error) async -> String {
        await withCheckedContinuation { continuation in
            retrier.retry(request, for: session, dueTo: error) { result in
                let text =
                    switch result {
                    case .retry: "retry"
                    case .retryWithDelay(let delay): "retry after \(delay) seconds"
                    case .doNotRetry: "no"
                    case .doNotRetryWithError(let error): "no: \(type(of: error))"
                    }
                continuation.resume(returning: text)
            }
        }
    }

    private struct Failure: Error {}

    /// The value that a completion received.
    private final class Box<Value: Sendable>: Sendable {
        private let kept = Locked<Value?>(nil)

        var value: Value? {
            get { kept.withLock { $0 } }
            set { kept.withLock { $0 = newValue } }
        }
    }

    @Test(arguments: [(UInt64.max, true), (0, false)])
    func `a form of Alamofire 4 is encoded in memory up to the threshold of the caller`(
        threshold: UInt64,
        isInMemory: Bool
    ) async throws {
        let result = await withCheckedContinuation { continuation in
            session.upload(
                multipartFormData: { $0.append(Data("x".utf8), withName: "a") },
                usingThreshold: threshold,
                to: "https://example.org/",
                encodingCompletion: { continuation.resume(returning: $0) }
            )
        }
        guard case .success(let request, let isStreaming, _) = result else {
            Issue.record("\(result)")
            return
        }
        let isData = if case .data? = request.uploadable { true } else { false }
        #expect(isData == isInMemory && isStreaming == !isInMemory, "\(result)")
    }

    @Test(arguments: [("x", nil), ("", "NoData")] as [(String, String?)])
    func `a method that an application adds to requests validates them`(body: String, cause: String?) async throws {
        let server = try ScriptedServer { _ in .status(200, body: Array(body.utf8)) }
        defer { server.stop() }
        let response = await Session().request(server.url()).validateDataExists().serializingData(emptyResponseCodes: [
            200
        ])
        .response
        #expect(response.error?.underlyingError.map { "\(type(of: $0))" } == cause, "\(response)")
    }

    @Test func `adapters change the request that is sent`() async throws {
        #expect(try await adapted(by: TraceAdapter()).headers.dictionary == ["Trace": "1", "Trace-More": "2"])
        #expect(try await adapted(by: Doorman()).value(forHTTPHeaderField: "authorization") == "Bearer token")
        #expect(try await adapted(by: Idle()) == request)
        for interceptor in try allInterceptors() { _ = try await adapted(by: interceptor) }
        #expect(shortNames(session).count == 7)
        #expect(try OAuth2Handler().adapt(request).value(forHTTPHeaderField: "Authorization") == "Bearer token")
    }

    @Test func `retriers return their decisions`() async throws {
        #expect(await decision(BusyRetrier(), failedRequest(status: 420), Failure()) == "retry after 0.001 seconds")
        #expect(await decision(BusyRetrier(), failedRequest(status: 420, retries: 2), Failure()) == "no")
        let teapot = AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: 418))
        #expect(await decision(BusyRetrier(), failedRequest(status: 418), teapot) == "no: AuthenticationError")
        #expect(await decision(Doorman(), failedRequest(status: nil), Failure()) == "retry")
        #expect(await decision(Idle(), failedRequest(status: nil), Failure()) == "no")
        #expect(await decision(OAuth2Handler(), failedRequest(status: 401), Failure()) == "retry")
        #expect(await decision(OAuth2Handler(), failedRequest(status: 401, retries: 1), Failure()) == "no")
        let all = Interceptor(adapter: TraceAdapter(), retrier: BusyRetrier(), interceptors: [Doorman()])
        #expect(await decision(all, failedRequest(status: nil), Failure()) == "retry")
        let handler = Retrier { _, _, _, completion in completion(.retryWithDelay(2)) }
        #expect(await decision(handler, failedRequest(status: nil), Failure()) == "retry after 2.0 seconds")
    }

    @Test(
        arguments: [
            (200, 0, HTTPMethod.get, "no"), (404, 0, .get, "no"), (408, 0, .get, "retry after 0.5 seconds"),
            (500, 0, .head, "retry after 0.5 seconds"), (502, 1, .put, "retry after 1.0 seconds"),
            (503, 1, .delete, "retry after 1.0 seconds"), (504, 2, .get, "no"), (500, 0, .post, "no"),
            (500, 0, .patch, "no"), (500, 0, .connect, "no"), (500, 0, .options, "retry after 0.5 seconds"),
            (500, 0, .trace, "retry after 0.5 seconds"), (501, 0, .get, "no"), (429, 0, .get, "no"),
            (nil, 0, .get, "retry after 0.5 seconds"), (nil, 0, .post, "no"), (nil, 2, .get, "no"),
        ] as [(Int?, Int, HTTPMethod, String)]
    )
    func `the retry policy has Alamofire's defaults`(status: Int?, retries: Int, method: HTTPMethod, text: String) async
    {
        let request = failedRequest(status: status, retries: retries, method: method)
        let error = status.map { AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: $0)) }
        #expect(await decision(RetryPolicy(), request, error ?? lostConnection) == text)
    }

    @Test func `a policy keeps its settings, and no number of retries overflows`() async {
        let policy = RetryPolicy(retryLimit: .max, exponentialBackoffBase: 3, exponentialBackoffScale: 0.1)
        #expect(policy.retryLimit == .max && policy.exponentialBackoffBase == 3)
        // The session waits at most a day, and not at all if the delay is not a number.
        let result = await decision(policy, failedRequest(status: 500, retries: 1_000_000), Failure())
        #expect(result.hasPrefix("retry after ") && !result.contains("inf"))
        let broken = RetryPolicy(exponentialBackoffScale: .nan)
        #expect(await decision(broken, failedRequest(status: 500), Failure()) == "retry after nan seconds")
        #expect(await decision(ConnectionLostRetryPolicy(), failedRequest(status: 500), Failure()) == "no")
        #expect(await decision(ConnectionLostRetryPolicy(), failedRequest(status: nil), Failure()) == "no")
        let lost = await decision(ConnectionLostRetryPolicy(), failedRequest(status: nil), lostConnection)
        #expect(lost == "retry after 0.5 seconds")
    }

    @Test func `interceptors that the caller calls complete before the call returns`() throws {
        let url = try #require(URL(string: "https://example.org/"))
        let adapted = Box<Result<URLRequest, any Error>>()
        let adapters = Interceptor(
            adapters: [Doorman(), Adapter { request, _, completion in completion(.success(request)) }]
        )
        adapters.adapt(URLRequest(url: url), for: session) { adapted.value = $0 }
        #expect(try adapted.value?.get().headers["Authorization"] == "Bearer token")
        let failing = Adapter { _, _, completion in completion(.failure(Failure())) }
        Interceptor(adapters: [failing, Doorman()]).adapt(URLRequest(url: url), for: session) { adapted.value = $0 }
        #expect(throws: Failure.self) { try adapted.value?.get() }
        let retriers = Interceptor(retriers: [
            Retrier { _, _, _, completion in completion(.doNotRetry) },
            Retrier { _, _, _, completion in completion(.retryWithDelay(1)) },
            Retrier { _, _, _, _ in Issue.record("a retrier was called after the decision") },
        ])
        let result = Box<RetryResult>()
        retriers.retry(session.request(url), for: session, dueTo: Failure()) { result.value = $0 }
        #expect(result.value?.retryRequired == true && result.value?.delay == 1 && result.value?.error == nil)
        Interceptor().retry(session.request(URLRequest(url: url)), for: session, dueTo: Failure()) { result.value = $0 }
        #expect(result.value?.retryRequired == false && result.value?.delay == nil)
        #expect(RetryResult.doNotRetryWithError(Failure()).error is Failure)
        let lost = ConnectionLostRetryPolicy(retryLimit: 3, exponentialBackoffBase: 4, exponentialBackoffScale: 0.25)
        #expect(lost.retryLimit == 3 && lost.exponentialBackoffBase == 4 && lost.exponentialBackoffScale == 0.25)
        #expect(lost.retryableHTTPMethods.contains(.get) && lost.retryableHTTPStatusCodes.isEmpty)
    }

    @Test func `names that Foundation also has mean the types of this package`() {
        let modules = Set(sharedNames.map { String(reflecting: $0).split(separator: ".")[0] })
        #expect(
            modules.isDisjoint(with: [
                "Foundation", "FoundationNetworking", "FoundationEssentials", "ReachabilityRetry",
            ])
        )
    }

    @Test func `parameters of version 4 accept values of any type`() throws {
        struct Odd {}
        let loose: [String: Any] = [
            "text": "a", "flag": true, "number": 7, "short": Int8(3), "half": 0.5, "none": Optional<String>.none as Any,
            "list": [1, "two", ["three": 3]] as [Any], "float": Float(0.1), "price": Decimal(1.5),
        ]
        let form = try URLEncoding.queryString.encode(request, with: loose).url?.query(percentEncoded: false)
        #expect(
            form == "flag=1&float=0.1&half=0.5&list[]=1&list[]=two&list[][three]=3&number=7&price=1.5&short=3&text=a"
        )
        let json = try JSONEncoding(options: []).encode(request, with: loose).httpBody
        #expect(
            String(decoding: json ?? Data(), as: UTF8.self)
                == #"{"flag":true,"float":0.1,"half":0.5,"list":[1,"two",{"three":3}],"none":null,"number":7,"#
                + #""price":1.5,"short":3,"text":"a"}"#
        )
        let odd: [String: Any] = ["odd": Odd()]
        #expect(throws: AFError.self) { try JSONEncoding.default.encode(request, with: odd) }
        #expect(try URLEncoding.default.encode(request, with: odd).url?.query() == "odd=Odd%28%29")
    }

    @Test func `results have the members of version 4`() {
        let (good, bad) = (Result<Int, Failure>.success(1), Result<Int, Failure>.failure(Failure()))
        #expect(good.isSuccess && !good.isFailure && good.value == 1 && good.error == nil)
        #expect(bad.isFailure && !bad.isSuccess && bad.value == nil && bad.error != nil)
        var calls: [String] = []
        good.ifSuccess { calls.append("success") }.ifFailure { calls.append("no") }.withValue { calls.append("\($0)") }
        bad.ifFailure { calls.append("failure") }.withError { _ in calls.append("error") }.ifSuccess {
            calls.append("no")
        }
        #expect(calls == ["success", "1", "failure", "error"])
        #expect(throws: Failure.self) { try bad.unwrap() }
        let validation: Request.ValidationResult = .success
        #expect(validation.isSuccess)
    }

    @Test func `URLRequest has Foundation's members`() {
        var request = request
        request.httpMethod = "PUT"
        request.addValue("a", forHTTPHeaderField: "X")
        request.addValue("b", forHTTPHeaderField: "x")
        #expect(request.method == .put && request.allHTTPHeaderFields == ["X": "a,b"])
        request.allHTTPHeaderFields = nil
        request.httpMethod = nil
        #expect(request == self.request)
    }
}
