import AsyncHTTPClient
import NIOCore
import NetworkReachability
import ReachabilityHTTP
import ReachabilityRetry
import TestSupport

/// The common settings of the tests: no reachability, so retries follow only the clock, and waits of a few milliseconds.
struct HTTPLab: Sendable {
    let coordinator: RetryCoordinator

    init(reachability: any ReachabilityProvider = NetlinkReachabilityProvider { _ in nil }, seed: UInt64 = 1) {
        guard let limits = try? RetryLimits(rate: 10_000, spread: .zero, budget: RetryBudget(retryCost: 0)) else {
            fatalError("the limits are invalid")
        }
        coordinator = RetryCoordinator(limits: limits, reachability: reachability, random: SeededGenerator(seed: seed))
    }

    /// Returns a policy that retries after a few milliseconds.
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

    /// Returns options that give each attempt the next fault. The last fault is repeated.
    func options(_ faults: [Fault], id: String = "", timeout: Duration? = nil) -> RequestRetryOptions {
        RequestRetryOptions(
            adapter: FaultAdapter(faults, id: id),
            attemptTimeout: timeout,
            coordinator: coordinator
        )
    }

    /// The settings of a client with short timeouts.
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
