import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// Retries of `HTTPClientRequest` with a real server.
@Suite(.timeLimit(.minutes(15))) struct AsyncRequestTests {
    private let lab = HTTPLab()

    /// Sends a request whose attempts have these faults in sequence. Returns the result and the requests that the
    /// server received.
    private func send(
        _ faults: [Fault],
        method: HTTPMethod = .GET,
        key: String? = nil,
        body: HTTPClientRequest.Body? = nil,
        policy: RetryPolicy? = nil,
        timeout: Duration? = nil
    ) async throws -> (result: Result<RetryOutcome<HTTPClientResponse>, RetryError>, seen: [ReceivedRequest]) {
        let policy = try policy ?? lab.policy()
        return try await withFaultServer { server in
            try await withClient { client in
                var request = HTTPClientRequest(url: server.url())
                request.method = method
                request.body = body
                if let key { request.headers.add(name: "Idempotency-Key", value: key) }
                let options = lab.options(faults, id: "1", timeout: timeout)
                do throws(RetryError) {
                    let outcome = try await client.execute(request, retry: policy, options: options)
                    return (.success(outcome), server.received)
                } catch {
                    return (.failure(error), server.received)
                }
            }
        }
    }

    private static func ending(_ result: Result<RetryOutcome<HTTPClientResponse>, RetryError>) -> RetryError.Ending? {
        if case .failure(let error) = result { error.ending } else { nil }
    }

    @Test(arguments: [Fault.resetBeforeHead, .resetAfterBody, .closeAfterBody, .garbage])
    func `a broken connection is retried for GET`(fault: Fault) async throws {
        let (result, seen) = try await send([fault, .answer(200)])
        let outcome = try result.get()
        #expect(outcome.value.status == .ok && outcome.attempts.count == 2)
        #expect(outcome.attempts[0].stage == .mayHaveBeenProcessed && outcome.attempts[0].reason == .backoff)
        #expect(seen.count == 2)
    }

    @Test(arguments: [Fault.resetBeforeHead, .resetAfterBody, .closeAfterBody, .garbage])
    func `a broken connection ends a POST without a key`(fault: Fault) async throws {
        let (result, seen) = try await send(
            [fault, .answer(200)],
            method: .POST,
            body: .bytes(ByteBuffer(string: "one"))
        )
        #expect(Self.ending(result) == .unsafeToRepeat)
        #expect(seen.count == 1)
    }

    @Test(arguments: [Fault.resetBeforeHead, .resetAfterBody, .closeAfterBody])
    func `a broken connection is retried with the whole body for a POST with a key`(fault: Fault) async throws {
        let body = HTTPClientRequest.Body.bytes(ByteBuffer(string: "all of it"))
        let (result, seen) = try await send([fault, .answer(201)], method: .POST, key: "k", body: body)
        #expect(try result.get().value.status == .created)
        #expect(seen.last?.bodyText == "all of it" && seen.last?.fields["idempotency-key"] == "k")
    }

    /// A status, its Retry-After, and the numbers of attempts with GET and POST.
    @Test(
        arguments: [
            (408, nil, 2, 2), (425, nil, 2, 2), (429, nil, 2, 2), (503, "0", 2, 2), (500, nil, 2, 1),
            (502, nil, 2, 1), (503, nil, 2, 1), (504, nil, 2, 1), (200, nil, 1, 1), (204, nil, 1, 1),
            (301, nil, 1, 1), (401, nil, 1, 1), (404, nil, 1, 1), (501, nil, 1, 1),
        ] as [(Int, String?, Int, Int)]
    )
    func `the status and the method decide whether a response is retried`(
        status: Int,
        retryAfter: String?,
        gets: Int,
        posts: Int
    ) async throws {
        for (method, count) in [(HTTPMethod.GET, gets), (.POST, posts)] {
            let faults = [Fault.answer(status, retryAfter: retryAfter), .answer(200)]
            let (result, seen) = try await send(faults, method: method)
            let outcome = try result.get()
            #expect(Int(outcome.value.status.code) == (count == 2 ? 200 : status) && seen.count == count)
            let first = outcome.attempts[0]
            #expect((first.reason == nil) == (count == 1))
            if count == 1 { #expect((first.error as? StatusFailure)?.status == (gets == 2 ? status : nil)) }
        }
    }

    @Test func `the last response is returned with its unread body`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let request = HTTPClientRequest(url: server.url())
                let options = lab.options([.body(3000, status: 503)])
                let outcome = try await client.execute(request, retry: lab.policy(), options: options)
                #expect(outcome.value.status == .serviceUnavailable && outcome.attempts.count == 3)
                #expect(try await outcome.value.body.collect(upTo: 4000).readableBytes == 3000)
                // The bodies of the earlier responses were read to the end, so one connection was sufficient.
                #expect(server.connections == 1 && server.received.count == 3)
            }
        }
    }

    @Test func `a retry closes the connection of a response with a long body`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let request = HTTPClientRequest(url: server.url())
                let options = lab.options([.body(4_000_000, status: 503), .answer(200)])
                let outcome = try await client.execute(request, retry: lab.policy(), options: options)
                #expect(outcome.value.status == .ok)
                #expect(server.connections == 2)
                while server.closed == 0 { try await Task.sleep(for: .milliseconds(1)) }
            }
        }
    }

    @Test func `a response whose Retry-After exceeds the deadline is returned at once`() async throws {
        let policy = try lab.policy(deadline: .seconds(10), retryAfterCap: .seconds(60))
        let (result, seen) = try await send([.answer(503, retryAfter: "30")], policy: policy)
        let outcome = try result.get()
        #expect(outcome.value.status == .serviceUnavailable && seen.count == 1)
        #expect(outcome.value.headers.first(name: "Retry-After") == "30")
    }

    @Test(arguments: [("http://127.0.0.1:1/", false), ("http://localhost:1/", false), ("http://127.0.0.1/", true)])
    func `a refused connection and an unresolved name count as never sent, and are retried for any method`(
        url: String,
        isUnresolved: Bool
    ) async throws {
        try await withClient { client in
            var request = HTTPClientRequest(url: url)
            request.method = .POST
            let policy = try lab.policy(attempts: 2)
            let options = lab.options(isUnresolved ? [.noName] : [])
            let error = try await #require(throws: RetryError.self) {
                try await client.execute(request, retry: policy, options: options)
            }
            #expect(error.ending == .attemptsExhausted && error.attempts.count == 2, "\(error)")
            #expect(error.attempts.allSatisfy { $0.stage == .neverSent })
        }
    }

    @Test func `a hanging attempt ends after its timeout`() async throws {
        let (result, seen) = try await send([.hang, .answer(200)], timeout: .seconds(5))
        let outcome = try result.get()
        #expect(outcome.value.status == .ok && seen.count == 2)
        #expect(outcome.attempts[0].error as? HTTPClientError == .deadlineExceeded)
        let (post, posted) = try await send([.hang, .answer(200)], method: .POST, timeout: .seconds(5))
        #expect(Self.ending(post) == .unsafeToRepeat && posted.count == 1)
    }

    @Test func `a slow response is returned`() async throws {
        let (result, seen) = try await send([.slow(100)], method: .POST)
        #expect(try result.get().value.status == .ok && seen.count == 1)
    }

    @Test func `a request that waited for a connection counts as never sent`() async throws {
        var configuration = HTTPLab.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        try await withFaultServer { server in
            try await withClient(configuration) { client in
                let policy = try lab.policy(attempts: 3)
                let blocker = Task { [lab] () throws(RetryError) in
                    let hang = lab.options([.hang], id: "blocker")
                    return try await client.execute(HTTPClientRequest(url: server.url()), retry: policy, options: hang)
                }
                while server.received.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                var request = HTTPClientRequest(url: server.url())
                (request.method, request.body) = (.POST, .bytes(ByteBuffer(string: "one")))
                let options = lab.options([], id: "waiting", timeout: .milliseconds(50))
                let error = try await #require(throws: RetryError.self) {
                    try await client.execute(request, retry: policy, options: options)
                }
                #expect(error.ending == .attemptsExhausted && error.attempts.count == 3)
                #expect(
                    error.attempts.allSatisfy {
                        $0.stage == .neverSent && ($0.error as? AttemptError)?.code == "unsent"
                    }
                )
                #expect(server.received.count == 1)
                blocker.cancel()
                guard case .failure(let end as RetryError) = await blocker.result else {
                    Issue.record("not cancelled")
                    return
                }
                #expect(end.ending == .cancelled)
            }
        }
    }

    @Test func `cancellation ends a request at once`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let policy = try lab.policy()
                let task = Task { [lab] () throws(RetryError) in
                    let request = HTTPClientRequest(url: server.url())
                    return try await client.execute(request, retry: policy, options: lab.options([.hang]))
                }
                while server.received.isEmpty { await Task.yield() }
                task.cancel()
                guard case .failure(let error as RetryError) = await task.result else {
                    Issue.record("not cancelled")
                    return
                }
                #expect(error.ending == .cancelled && error.attempts.count == 1)
                // Its connection is closed.
                while server.closed == 0 { try await Task.sleep(for: .milliseconds(1)) }
            }
        }
    }

    @Test func `an invalid URL ends a request without an attempt`() async throws {
        try await withClient { client in
            for url in ["", "example.org", "http://", "ftp://example.org/", "http://a b/"] {
                let error = try await #require(throws: RetryError.self) {
                    try await client.execute(HTTPClientRequest(url: url), retry: lab.policy())
                }
                #expect(error.ending == .notRetryable && error.attempts.count == 1, "\(url)")
            }
        }
    }

    @Test func `the adapter receives the original request before each attempt`() async throws {
        let (_, seen) = try await send([.answer(503), .answer(503), .answer(200)])
        #expect(seen.map { $0.fields["x-attempt"] } == ["1", "2", "3"])
    }

    @Test func `an error of the adapter ends the request`() async throws {
        struct Refusal: Error {}
        try await withFaultServer { server in
            try await withClient { client in
                let adapter = Adapter { _, completion in completion(.failure(Refusal())) }
                let options = RequestRetryOptions(adapter: adapter, coordinator: lab.coordinator)
                let error = try await #require(throws: RetryError.self) {
                    try await client.execute(
                        HTTPClientRequest(url: server.url()),
                        retry: lab.policy(),
                        options: options
                    )
                }
                #expect(error.ending == .notRetryable && error.attempts.count == 1)
                #expect((error.lastError as? AttemptError)?.cause is Refusal)
                #expect(server.received.isEmpty)
            }
        }
    }

    @Test func `a truncated body is retried if the closure reads the body`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let options = lab.options([.resetMidBody, .body(10)])
                let request = HTTPClientRequest(url: server.url())
                let outcome = try await client.execute(request, retry: lab.policy(), options: options) { response in
                    try await response.body.collect(upTo: 1000)
                }
                #expect(outcome.value.readableBytes == 10 && outcome.attempts.count == 2)
                #expect(outcome.attempts[0].stage == .mayHaveBeenProcessed)

                var post = request
                post.method = .POST
                let error = try await #require(throws: RetryError.self) {
                    try await client.execute(post, retry: lab.policy(), options: lab.options([.resetMidBody])) {
                        try await $0.body.collect(upTo: 1000)
                    }
                }
                #expect(error.ending == .unsafeToRepeat && error.attempts.count == 1)

                let last = try await client.execute(request, retry: lab.policy(), options: lab.options([.answer(503)]))
                {
                    String(buffer: try await $0.body.collect(upTo: 1000))
                }
                #expect(last.value == "status 503" && last.attempts.count == 3)
            }
        }
    }
}
