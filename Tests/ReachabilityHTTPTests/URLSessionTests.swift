import Foundation
import FoundationNetworking
import NetworkLab
import Testing

@testable import ReachabilityRetry
@testable import ReachabilityURLSession

/// Retries of `URLSession` with a real server.
@Suite(.timeLimit(.minutes(15))) struct URLSessionTests {
    private let lab = HTTPLab()
    private let session: URLSession

    init() throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        session = URLSession(configuration: configuration)
    }

    private func request(_ server: ScriptedServer, _ method: String = "GET", body: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    private static func status(_ response: URLResponse) -> Int? { (response as? HTTPURLResponse)?.statusCode }

    @Test(arguments: [Fault.resetBeforeHead, .resetAfterBody, .closeAfterBody, .garbage, .resetMidBody])
    func `a broken connection is retried for GET and ends a POST`(fault: Fault) async throws {
        try await withFaultServer { server in
            let options = lab.options([fault, .answer(200)])
            let outcome = try await session.data(for: request(server), retry: lab.policy(), options: options)
            #expect(Self.status(outcome.value.1) == 200 && outcome.attempts.count == 2)
            #expect(outcome.attempts[0].stage == .mayHaveBeenProcessed)
            let post = try request(server, "POST", body: "one")
            let error = try await #require(throws: RetryError.self) {
                try await session.data(for: post, retry: lab.policy(), options: lab.options([fault, .answer(200)]))
            }
            #expect(error.ending == .unsafeToRepeat && server.received.filter { $0.method == "POST" }.count == 1)
        }
    }

    @Test func `a POST on a reused connection is not sent twice`() async throws {
        try await withFaultServer { server in
            for _ in 0..<3 { _ = try await session.data(for: request(server), retry: lab.policy()) }
            let post = try request(server, "POST")
            let error = try await #require(throws: RetryError.self) {
                let options = lab.options([.closeAfterBody], id: "post")
                return try await session.data(for: post, retry: lab.policy(), options: options)
            }
            #expect(error.ending == .unsafeToRepeat && error.attempts.count == 1)
            #expect(server.effects(of: "post") == 1)
        }
    }

    @Test func `temporary statuses are retried after Retry-After`() async throws {
        try await withFaultServer { server in
            let options = lab.options([.answer(429, retryAfter: "7"), .answer(425), .answer(201)])
            let post = try request(server, "POST", body: "one")
            let outcome = try await session.data(for: post, retry: lab.policy(), options: options)
            #expect(Self.status(outcome.value.1) == 201 && outcome.attempts.count == 3)
            #expect(outcome.attempts[0].stage == .answered(status: 429, retryAfter: .seconds(7)))
            #expect(outcome.attempts[0].reason == .retryAfter)
            #expect(server.received.map(\.bodyText) == ["one", "one", "one"])
            #expect(server.received.map { $0.fields["x-attempt"] } == ["1", "2", "3"])
            let last = try await session.data(for: post, retry: lab.policy(), options: lab.options([.answer(500)]))
            #expect(Self.status(last.value.1) == 500 && String(decoding: last.value.0, as: UTF8.self) == "status 500")
        }
    }

    @Test func `refused connections and unresolved names count as never sent`() async throws {
        try await withFaultServer { server in
            let options = lab.options([.refuse, .noName, .answer(200)])
            let outcome = try await session.data(for: request(server, "POST"), retry: lab.policy(), options: options)
            #expect(outcome.attempts.map(\.stage) == [.neverSent, .neverSent, nil])
            #expect(server.received.count == 1)
        }
    }

    @Test func `each attempt of an upload sends the whole body`() async throws {
        try await withFaultServer { server in
            let text = String(repeating: "0123456789", count: 1000)
            let options = lab.options([.resetAfterBody, .answer(503), .answer(200)])
            let put = try request(server, "PUT")
            let data = try await session.upload(for: put, from: Data(text.utf8), retry: lab.policy(), options: options)
            #expect(data.attempts.count == 3)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(text.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let again = lab.options([.resetAfterBody, .answer(503), .answer(200)])
            let outcome = try await session.upload(for: put, fromFile: file, retry: lab.policy(), options: again)
            #expect(Self.status(outcome.value.1) == 200)
            #expect(server.received.count == 6 && server.received.allSatisfy { $0.bodyText == text })
        }
    }

    @Test func `a stream is sent only once`() async throws {
        try await withFaultServer { server in
            var put = try request(server, "PUT")
            put.httpBodyStream = InputStream(data: Data("once".utf8))
            let error = try await #require(throws: RetryError.self) {
                let options = lab.options([.resetAfterBody, .answer(200)])
                return try await session.data(for: put, retry: lab.policy(), options: options)
            }
            #expect((error.lastError as? AttemptError)?.code == "bodyNotReplayable" && server.received.count == 1)
        }
    }

    @Test func `a download returns the file of the last attempt`() async throws {
        try await withFaultServer { server in
            let options = lab.options([.resetMidBody, .answer(503), .body(5000)])
            let outcome = try await session.download(for: request(server), retry: lab.policy(), options: options)
            #expect(outcome.attempts.count == 3)
            let file = outcome.value.0
            #expect(try Data(contentsOf: file).count == 5000)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test func `a hanging attempt ends after its timeout, and the request at the deadline`() async throws {
        try await withFaultServer { server in
            let options = lab.options([.hang, .answer(200)], timeout: .seconds(5))
            let outcome = try await session.data(for: request(server), retry: lab.policy(), options: options)
            #expect(outcome.attempts.count == 2 && (outcome.attempts[0].error as? URLError)?.code == .timedOut)
            let error = try await #require(throws: RetryError.self) {
                let policy = try lab.policy(deadline: .milliseconds(500))
                return try await session.data(for: request(server), retry: policy, options: lab.options([.hang]))
            }
            #expect(error.ending == .deadlineExpired)
        }
    }

    @Test func `cancellation ends a request`() async throws {
        try await withFaultServer { server in
            let (request, policy, options) = (try request(server), try lab.policy(), lab.options([.hang]))
            let task = Task { [session] in try await session.data(for: request, retry: policy, options: options) }
            while server.received.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            task.cancel()
            let error = await #expect(throws: RetryError.self) { try await task.value }
            #expect(error?.ending == .cancelled)
        }
    }

    @Test func `a URL without a host ends a request without an attempt`() async throws {
        let url = try #require(URL(string: "file:///etc/hosts"))
        let error = try await #require(throws: RetryError.self) {
            try await session.data(for: URLRequest(url: url), retry: lab.policy())
        }
        #expect(error.ending == .notRetryable)
    }
}
