import AsyncHTTPClient
import NIOCore
import NetworkReachability
import ReachabilityHTTP
import ReachabilityRetry
import TestSupport

/// What the tests have in common: verdicts that say nothing, so that the clock decides, and waits of a few milliseconds.
struct HTTPLab: Sendable {
    let coordinator: RetryCoordinator

    init(verdicts: any VerdictSource = MonitoredVerdicts { _ in nil }, seed: UInt64 = 1) throws {
        let limits = try RetryLimits(rate: 10_000, spread: .zero, budget: RetryBudget(retryCost: 0))
        coordinator = RetryCoordinator(limits: limits, verdicts: verdicts, random: SeededGenerator(seed: seed))
    }

    /// Retries after milliseconds.
    func policy(
        deadline: Duration = .seconds(100),
        attempts: Int = 20,
        attemptsAfterSending: Int = 3,
        retryAfterCap: Duration = .milliseconds(20)
    ) throws -> RetryPolicy {
        try RetryPolicy(
            deadline: deadline,
            attempts: attempts,
            attemptsAfterSending: attemptsAfterSending,
            attemptsUnresolved: attempts,
            attemptsRefused: attempts,
            backoff: Backoff(base: .milliseconds(1), cap: .milliseconds(4)),
            retryAfterCap: retryAfterCap
        )
    }

    /// Each attempt with the next of these faults, the last of them again and again.
    func options(_ faults: [Fault], id: String = "", timeout: Duration? = nil) -> RequestRetryOptions {
        RequestRetryOptions(
            adapter: FaultAdapter(faults, id: id),
            attemptTimeout: timeout,
            coordinator: coordinator
        )
    }

    /// Settings of a client that gives up a connection soon.
    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .follow(max: 5, allowCycles: false),
            timeout: .init(connect: .seconds(60), read: .seconds(60))
        )
        configuration.httpVersion = .http1Only
        return configuration
    }
}

/// Runs `body` with a client, and closes it.
func withClient<Value>(
    _ configuration: HTTPClient.Configuration = HTTPLab.configuration,
    group: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
    _ body: (RetryingHTTPClient) async throws -> Value
) async throws -> Value {
    let client = RetryingHTTPClient(configuration: configuration, eventLoopGroup: group)
    do {
        let value = try await body(client)
        try await client.shutdown()
        return value
    } catch {
        try await client.shutdown()
        throw error
    }
}
