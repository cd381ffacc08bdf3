import AsyncHTTPClient
import LinuxPrimitives
import NIOCore
import NIOHTTP1
import Netlink
import NetworkLab
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// HTTPClient.Request, with delegates and futures, against a real server.
@Suite(.timeLimit(.minutes(15))) struct DelegateRequestTests {
    private let lab: HTTPLab

    init() throws {
        lab = try HTTPLab()
    }

    /// What a request comes to with one fault after the other, and what the server saw.
    private func send(
        _ faults: [Fault],
        method: HTTPMethod = .GET,
        body: HTTPClient.Body? = nil,
        timeout: Duration? = nil,
        policy: RetryPolicy? = nil
    ) async throws -> (result: Result<RetryOutcome<HTTPClient.Response>, RetryError>, seen: [ReceivedRequest]) {
        let policy = try policy ?? lab.policy()
        return try await withFaultServer { server in
            try await withClient { client in
                let request = try HTTPClient.Request(url: server.url(), method: method, body: body)
                let options = lab.options(faults, id: "1", timeout: timeout)
                do throws(RetryError) {
                    let outcome = try await client.execute(request: request, retry: policy, options: options)
                    return (.success(outcome), server.received)
                } catch {
                    return (.failure(error), server.received)
                }
            }
        }
    }

    @Test(arguments: [Fault.resetBeforeHead, .resetAfterBody, .closeAfterBody, .garbage, .resetMidBody])
    func `a connection that breaks is retried for GET, and ends a POST`(fault: Fault) async throws {
        let (result, seen) = try await send([fault, .answer(200)])
        #expect(try result.get().attempts.count == 2 && seen.count == 2)
        let (post, posted) = try await send([fault, .answer(200)], method: .POST, body: .string("one"))
        guard case .failure(let error) = post else {
            Issue.record("sent twice")
            return
        }
        #expect(error.ending == .unsafeToRepeat && posted.count == 1)
    }

    @Test func `statuses are retried, and the last answer is whole`() async throws {
        let (result, seen) = try await send([.answer(429, retryAfter: "9"), .answer(425), .answer(200)], method: .POST)
        let outcome = try result.get()
        #expect(outcome.value.status == .ok && seen.count == 3)
        #expect(outcome.attempts[0].stage == .answered(status: 429, retryAfter: .seconds(9)))
        #expect(outcome.value.body.map { String(buffer: $0) } == "status 200")
        let (last, _) = try await send([.body(3000, status: 503)])
        #expect(try last.get().value.body?.readableBytes == 3000)
        #expect(try last.get().attempts.count == 3)
    }

    @Test func `a short answer leaves its connection, a long one does not`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let request = try HTTPClient.Request(url: server.url())
                let short = lab.options([.body(3000, status: 503), .answer(200)])
                _ = try await client.execute(request: request, retry: lab.policy(), options: short)
                #expect(server.connections == 1)
                let long = lab.options([.body(4_000_000, status: 503), .answer(200)])
                let outcome = try await client.execute(request: request, retry: lab.policy(), options: long)
                #expect(outcome.value.status == .ok && server.connections == 2)
            }
        }
    }

    @Test func `what waited for a connection was never sent`() async throws {
        var configuration = HTTPLab.configuration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
        try await withFaultServer { server in
            try await withClient(configuration) { client in
                let policy = try lab.policy(attempts: 3)
                let hanging = try HTTPClient.Request(url: server.url())
                let hang = lab.options([.hang], id: "blocker")
                let blocker = client.start(request: hanging, retry: policy, options: hang)
                while server.received.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                let request = try HTTPClient.Request(url: server.url(), method: .POST, body: .string("one"))
                let options = lab.options([], id: "waiting", timeout: .milliseconds(50))
                let error = try await #require(throws: RetryError.self) {
                    try await client.execute(request: request, retry: policy, options: options)
                }
                #expect(error.ending == .attemptsExhausted && error.attempts.count == 3)
                #expect(error.attempts.allSatisfy { $0.stage == .neverSent && $0.error is UnsentRequest })
                #expect(server.received.count == 1)
                blocker.cancel()
                let end = await #expect(throws: RetryError.self) { try await blocker.futureResult.get() }
                #expect(end?.ending == .cancelled)
            }
        }
    }

    @Test func `what hangs after it was sent ends a POST`() async throws {
        let (result, seen) = try await send([.hang], method: .POST, body: .string("one"), timeout: .seconds(5))
        guard case .failure(let error) = result else {
            Issue.record("answered")
            return
        }
        #expect(error.ending == .unsafeToRepeat && error.attempts.last?.stage == .mayHaveBeenProcessed)
        #expect(seen.count == 1)
    }

    @Test func `a body of known length is written again, one of unknown length is not`() async throws {
        let written = Locked(0)
        let write: @Sendable (HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> = { writer in
            written.withLock { $0 += 1 }
            return writer.write(.byteBuffer(ByteBuffer(string: "four")))
        }
        let known = HTTPClient.Body.stream(contentLength: 4, write)
        let (result, seen) = try await send([.refuse, .resetAfterBody, .answer(200)], method: .PUT, body: known)
        #expect(try result.get().attempts.count == 3 && written.withLock { $0 } == 2)
        #expect(seen.map(\.bodyText) == ["four", "four"])

        let unknown = HTTPClient.Body.stream(contentLength: nil, write)
        let (other, once) = try await send([.refuse, .resetAfterBody, .answer(200)], method: .PUT, body: unknown)
        guard case .failure(let error) = other else {
            Issue.record("written again")
            return
        }
        #expect(error.ending == .notRetryable && error.lastError is BodyNotReplayable)
        #expect(once.count == 1 && written.withLock { $0 } == 3)
    }

    /// Counts what it is told.
    private final class Teller: HTTPClientResponseDelegate {
        struct Told: Sendable {
            var heads = 0
            var answers: [UInt] = []
            var bytes = 0
            var errors = 0
        }

        let told: Locked<Told>

        init(_ told: Locked<Told>) {
            self.told = told
        }

        func didSendRequestHead(task: HTTPClient.Task<Int>, _ head: HTTPRequestHead) {
            told.withLock { $0.heads += 1 }
        }

        func didReceiveHead(task: HTTPClient.Task<Int>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
            told.withLock { $0.answers.append(head.status.code) }
            return task.eventLoop.makeSucceededVoidFuture()
        }

        func didReceiveBodyPart(task: HTTPClient.Task<Int>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
            told.withLock { $0.bytes += buffer.readableBytes }
            return task.eventLoop.makeSucceededVoidFuture()
        }

        func didReceiveError(task: HTTPClient.Task<Int>, _ error: any Error) {
            told.withLock { $0.errors += 1 }
        }

        func didFinishRequest(task: HTTPClient.Task<Int>) throws -> Int { told.withLock { $0.bytes } }
    }

    @Test func `a delegate sees only the answer that is kept`() async throws {
        let told = Locked(Teller.Told())
        try await withFaultServer { server in
            try await withClient { client in
                let request = try HTTPClient.Request(url: server.url())
                let options = lab.options([.answer(503), .resetAfterBody, .body(70_000)])
                let task = try client.start(request: request, retry: lab.policy(), options: options) { _ in Teller(told)
                }
                let outcome = try await task.futureResult.get()
                #expect(outcome.value == 70_000 && outcome.attempts.count == 3)
            }
        }
        let seen = told.withLock { $0 }
        #expect(seen.heads == 3 && seen.answers == [200] && seen.bytes == 70_000 && seen.errors == 1)
    }

    @Test func `the deadline and cancellation end it`() async throws {
        let (result, _) = try await send([.hang], policy: try lab.policy(deadline: .milliseconds(500)))
        guard case .failure(let error) = result else {
            Issue.record("answered")
            return
        }
        #expect(error.ending == .deadlineExpired)
    }
}
