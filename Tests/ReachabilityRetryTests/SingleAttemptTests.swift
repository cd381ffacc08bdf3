import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// The default policy of a session, the limits of attempts that fail immediately, and retriers that decide after the
/// policy.
@Suite struct SingleAttemptTests {
    private let world = VirtualWorld()
    private let network = PlayedNetwork()

    private static let refused = SocketFailure(errorNumber: 111, during: .connecting)

    private struct Unresolved: RetryableError {
        var failureStage: FailureStage? { .neverSent }
        var connectionFailure: ConnectionFailure? { .nameNotResolved }
    }

    private struct Broken: Error {}

    /// Runs a request that fails with the error of each attempt; nil is a success.
    private func run(
        _ policy: RetryPolicy,
        _ method: RequestMethod = .get,
        retrier: (any RequestRetrier)? = nil,
        network: PlayedNetwork? = nil,
        meanwhile: @escaping @Sendable () async -> Void = {},
        _ error: @escaping @Sendable (_ attempt: Int) -> (any Error)?
    ) -> (result: Result<RetryOutcome<Int>, RetryError>, began: [Duration]) {
        let coordinator = world.coordinator(network ?? self.network)
        let options = RequestRetryOptions(retrier: retrier, coordinator: coordinator, clock: world)
        let began = RecordingListener<Duration>()
        let retried = NumberedRequest(
            RequestHead(method: method, url: "https://example.org/"),
            policy: policy,
            options: options
        ) { [world] _ in
            began.record(world.time)
            if let error = error(began.count) { throw error }
            return (began.count, ResponseHead(status: 200) { _ in nil })
        }
        let result = world.result(meanwhile: meanwhile) { () throws(RetryError) in try await retried.run() }
        return (result, began.values)
    }

    @Test func `refused connections and unknown names end within two seconds by default`() throws {
        for error in [Self.refused, Unresolved()] as [any RetryableError] {
            let (result, began) = run(.standard) { _ in error }
            #expect(result.failure?.ending == .attemptsExhausted && began.count == 3)
            #expect(try #require(began.last) <= .milliseconds(1600))
        }
        let policy = try RetryPolicy(attemptsUnresolved: 5, attemptsRefused: 7)
        #expect(run(policy) { _ in Self.refused }.began.count == 7)
        #expect(run(policy) { _ in Unresolved() }.began.count == 5)
        #expect(throws: RetryPolicyError.self) { try RetryPolicy(attemptsRefused: 0) }
        #expect(throws: RetryPolicyError.self) { try RetryPolicy(pathTimeout: .seconds(-1)) }
    }

    @Test func `other failures before sending are not limited to three`() throws {
        let timedOut = SocketFailure(errorNumber: 110, during: .connecting)
        #expect(run(.standard) { $0 < 10 ? timedOut : nil }.began.count == 10)
    }

    @Test func `refused connections while the machine is offline do not count`() throws {
        let (result, began) = run(
            .standard,
            meanwhile: { [world, network] in
                for _ in 0..<5 {
                    network.set(reachable: true)
                    try? await world.sleep(for: .seconds(1))
                }
            }
        ) { [network] attempt in
            guard attempt <= 5 else { return nil }
            network.set(reachable: false)
            return Self.refused
        }
        #expect(began.count == 6 && result.failure == nil)
    }

    @Test(
        arguments: [refused, SocketFailure(errorNumber: 104, during: .exchanging), Unresolved(), Broken()]
            as [any Error]
    )
    func `a single attempt reports its error immediately`(error: any Error) throws {
        let (result, began) = run(.singleAttempt) { _ in error }
        let end = try #require(result.failure)
        #expect(began == [.zero] && end.attempts.count == 1)
        #expect(end.lastError.map { "\($0)" } == "\(error)")
    }

    @Test func `a single attempt waits for a path and is then made once`() throws {
        network.set(reachable: false)
        let (result, began) = run(
            .singleAttempt,
            .post,
            meanwhile: { [world, network] in
                try? await world.sleep(for: .seconds(20))
                network.set(reachable: true)
            }
        ) { _ in Self.refused }
        #expect(began.count == 1 && result.failure?.ending == .attemptsExhausted)
        #expect(try #require(began.first) - .seconds(20) <= .milliseconds(20))
        #expect(result.failure?.lastError as? SocketFailure == Self.refused)
    }

    @Test func `an attempt that failed without a path is repeated when there is one`() throws {
        let unreachable = SocketFailure(errorNumber: 101, during: .connecting)
        let (result, began) = run(
            .singleAttempt,
            .post,
            meanwhile: { [world, network] in
                for wait in [5, 10, 40] {
                    try? await world.sleep(for: .seconds(wait))
                    network.set(reachable: true)
                }
            }
        ) { [network] _ in
            network.set(reachable: false)
            return unreachable
        }
        // The third wait ends when all three together have taken 30 seconds.
        #expect(began.count == 3 && result.failure?.ending == .deadlineExpired)
        #expect(result.failure?.lastError as? SocketFailure == unreachable)
    }

    @Test func `the waits for a path have one common limit`() throws {
        network.set(reachable: false)
        let (result, began) = run(.singleAttempt) { _ in nil }
        let end = try #require(result.failure)
        #expect(began.isEmpty && end.ending == .deadlineExpired)
        guard case .noPath? = end.lastError as? AttemptError else {
            Issue.record("\(end)")
            return
        }
        #expect(world.time == .seconds(30))
    }

    @Test func `the retrier decides after the policy and about a path that does not return`() throws {
        let asked = RecordingListener<Int>()
        let retrier = Retrier { request, _, completion in
            asked.record(request.retryCount)
            completion(request.retryCount < 4 ? .retryWithDelay(.milliseconds(1)) : .doNotRetry)
        }
        let (result, began) = run(.singleAttempt, retrier: retrier) { _ in Self.refused }
        #expect(result.failure?.attempts.count == 5 && began.count == 5 && asked.values == [0, 1, 2, 3, 4])
        #expect(result.failure?.ending == .attemptsExhausted)
        // The policy itself makes three attempts.
        let standard = run(.standard, retrier: retrier) { _ in Self.refused }
        #expect(standard.began.count == 5 && asked.values.suffix(3) == [2, 3, 4])
        let never = Retrier { _, _, completion in completion(.doNotRetry) }
        network.set(reachable: false)
        let offline = run(.singleAttempt, retrier: never) { _ in nil }
        #expect(offline.result.failure?.ending == .deadlineExpired && offline.began.isEmpty)
    }

    @Test func `a retry of the retrier waits for a path no longer than the policy permits`() throws {
        network.set(reachable: false)
        let asked = RecordingListener<Int>()
        let retrier = Retrier { request, _, completion in
            asked.record(request.retryCount)
            completion(.retry)
        }
        // Two waits end before the first probe, which is made after a minute.
        let policy = try RetryPolicy(deadline: nil, attempts: 1, pathTimeout: .seconds(20), waitsFirst: true)
        let (result, began) = run(policy, retrier: retrier) { _ in nil }
        #expect(result.failure?.ending == .deadlineExpired && began.isEmpty && asked.values == [0])
        #expect(world.time == .seconds(40))
    }

    @Test func `the offline retrier waits for the path after a failure without one`() throws {
        let retrier = try OfflineRetrier(reachability: network, clock: world)
        let (result, began) = run(
            .singleAttempt,
            retrier: retrier,
            meanwhile: { [world, network] in
                try? await world.sleep(for: .seconds(3))
                network.set(reachable: true)
            }
        ) { [network] attempt in
            guard attempt == 1 else { return nil }
            network.set(reachable: false)
            return SocketFailure(errorNumber: 104, during: .exchanging)
        }
        #expect(try result.get().value == 2)
        #expect(try #require(began.last) >= .seconds(3))
    }
}
