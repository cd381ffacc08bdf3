import AsyncHTTPClient
import NIOCore
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// The last response, after which no retry follows. Its body must be read before the deadline.
@Suite(.timeLimit(.minutes(15))) struct LastAnswerTests {
    private let lab = HTTPLab()

    /// A policy with a single attempt and a deadline.
    private func policy() throws -> RetryPolicy { try lab.policy(deadline: .seconds(8), attempts: 1) }

    @Test(arguments: [500, 503]) func `a last response whose body stalls ends at the deadline`(status: Int) async throws
    {
        try await withFaultServer { server in
            try await withClient { client in
                let error = try await #require(throws: RetryError.self) {
                    try await client.execute(
                        HTTPClientRequest(url: server.url()),
                        retry: policy(),
                        options: lab.options([.stall(status: status)])
                    ) { try await $0.body.collect(upTo: 1 << 20) }
                }
                #expect(error.ending == .deadlineExpired && error.attempts.count == 1)
                // If a timeout of the client had ended it, that would be the last error.
                #expect((error.lastError as? StatusFailure)?.status == status)
            }
        }
    }

    @Test func `cancellation ends the reading of the last response`() async throws {
        try await withFaultServer { server in
            try await withClient { client in
                let (reads, reading) = AsyncStream.makeStream(of: Void.self)
                let policy = try lab.policy(attempts: 1)
                let task = Task {
                    try await client.execute(
                        HTTPClientRequest(url: server.url()),
                        retry: policy,
                        options: lab.options([.stall(status: 503)])
                    ) { response in
                        reading.finish()
                        return try await response.body.collect(upTo: 1 << 20)
                    }
                }
                for await _ in reads {}
                task.cancel()
                let error = try await #require(throws: RetryError.self) { try await task.value }
                #expect(error.ending == .cancelled)
            }
        }
    }
}
