import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// A single request in simulated time.
@Suite struct RetryTests {
    let world = VirtualWorld()
    let network = PlayedNetwork()

    func makeCoordinator(_ limits: RetryLimits = .standard) -> RetryCoordinator {
        world.coordinator(network, limits)
    }

    static let unreachable = SocketFailure(errorNumber: 113, during: .connecting)
    static let reset = SocketFailure(errorNumber: 104, during: .exchanging)

    func target(_ method: RequestMethod = .get, key: String? = nil) throws -> RetryTarget {
        try RetryTarget(host: "example.org", method: method, idempotencyKey: key)
    }

    /// Runs a request that fails with one error per attempt and then succeeds. Returns the result and the start times
    /// of the attempts.
    func retry(
        _ errors: [any Error],
        target: RetryTarget,
        policy: RetryPolicy = .standard,
        meanwhile: @escaping @Sendable () async -> Void = {}
    ) -> (result: Result<RetryOutcome<Int>, RetryError>, attempts: [Duration]) {
        let coordinator = makeCoordinator()
        let begun = RecordingListener<Duration>()
        let result = world.result(meanwhile: meanwhile) { [world] () throws(RetryError) in
            try await withRetry(policy: policy, target: target, coordinator: coordinator, clock: world) { number in
                begun.record(world.time)
                if number <= errors.count { throw errors[number - 1] }
                return number
            }
        }
        #expect(network.watchCount == 0)
        #expect(coordinator.waitingCount(for: "example.org") == 0)
        return (result, begun.values)
    }

    @Test func `an immediate success uses neither watch nor queue`() throws {
        let (result, _) = retry([], target: try target())
        let outcome = try result.get()
        #expect(outcome.value == 1 && outcome.attempts.count == 1)
        #expect(network.watchesMade == 0)
    }

    @Test func `the history contains errors, reachability, waits and reasons`() throws {
        let (result, begun) = retry([Self.unreachable, StatusFailure(status: 503)], target: try target(.put))
        let attempts = try result.get().attempts
        #expect(attempts.map(\.number) == [1, 2, 3])
        #expect(attempts.map(\.stage) == [.neverSent, .answered(status: 503), nil])
        #expect(attempts.map(\.reason) == [.backoff, .backoff, nil])
        #expect(attempts[0].error as? SocketFailure == Self.unreachable)
        #expect(attempts[0].reachability?.status == .reachable)
        #expect(attempts[2].reachability == nil)
        #expect(attempts.map(\.began) == begun)
        #expect(attempts[0].wait <= .milliseconds(500) && attempts[1].wait <= .seconds(1))
        #expect(attempts[1].began == attempts[0].ended + attempts[0].wait)
    }

    @Test func `a request that may have been processed is not repeated without a key`() throws {
        for method in [RequestMethod.post, .patch, .connect, RequestMethod(rawValue: "get")] {
            let (result, begun) = retry([Self.reset], target: try target(method))
            #expect(begun.count == 1)
            #expect(throws: RetryError.self) { try result.get() }
            let error = try #require(result.failure)
            #expect(error.ending == .unsafeToRepeat)
            #expect(error.lastError as? SocketFailure == Self.reset)
        }
        #expect(try retry([Self.reset], target: target(.post, key: "k")).result.get().value == 2)
        #expect(try retry([Self.reset], target: target(.put)).result.get().value == 2)
        #expect(try retry([Self.unreachable], target: target(.post)).result.get().value == 2)
        guard case .failure = try retry([Self.reset], target: target(.post, key: "")).result else {
            Issue.record("an empty key counts as a key")
            return
        }
    }

    @Test func `no attempt is made while offline, and one immediately when the network is back`() throws {
        network.set(reachable: false)
        let (result, begun) = retry([Self.unreachable], target: try target()) { [world, network] in
            try? await world.sleep(for: .seconds(37))
            network.set(reachable: true)
        }
        #expect(try result.get().value == 2)
        #expect(begun.count == 2 && begun[0] == .zero)
        #expect(begun[1] >= .seconds(37) && begun[1] <= .seconds(37) + .milliseconds(20))
        #expect(try result.get().attempts[0].reason == .unreachable)
        #expect(try result.get().attempts[0].reachability?.status == .notReachable)
    }

    @Test func `a deadline that passes offline reports the last real error`() throws {
        network.set(reachable: false)
        let policy = try RetryPolicy(deadline: .seconds(10))
        let (result, begun) = retry([Self.unreachable], target: try target(), policy: policy)
        let error = try #require(result.failure)
        #expect(error.ending == .deadlineExpired && begun.count == 1)
        #expect(error.lastError as? SocketFailure == Self.unreachable)
        #expect(world.time == .seconds(10))
    }

    @Test func `a hanging attempt is cancelled at the deadline`() throws {
        let coordinator = makeCoordinator()
        let policy = try RetryPolicy(deadline: .seconds(10))
        let target = try target()
        let error = world.result { [world] () throws(RetryError) in
            try await withRetry(policy: policy, target: target, coordinator: coordinator, clock: world) { number in
                if number == 1 { throw Self.unreachable }
                try await world.sleep(for: .seconds(3600))
            }
        }.failure
        #expect(error?.ending == .deadlineExpired && error?.attempts.count == 2)
        #expect(error?.lastError as? SocketFailure == Self.unreachable)
        #expect(world.time == .seconds(10))
    }

    @Test func `a new path ends the backoff`() throws {
        let slow = try Backoff(base: .seconds(100), factor: 1, cap: .seconds(100))
        let policy = try RetryPolicy(backoff: slow)
        let (result, begun) = retry([Self.unreachable], target: try target(), policy: policy) { [world, network] in
            try? await world.sleep(for: .milliseconds(300))
            network.change()
        }
        #expect(try result.get().value == 2)
        #expect(begun[1] >= .milliseconds(300) && begun[1] <= .milliseconds(320))
    }

    @Test func `Retry-After is observed and capped, whatever the network does`() throws {
        let policy = try RetryPolicy(retryAfterCap: .seconds(20))
        let errors = [
            StatusFailure(status: 429, retryAfter: .seconds(7)), StatusFailure(status: 503, retryAfter: .seconds(999)),
        ]
        let (result, begun) = retry(errors, target: try target(.post), policy: policy) { [world, network] in
            try? await world.sleep(for: .seconds(1))
            network.change()
        }
        #expect(try result.get().attempts.map(\.reason) == [.retryAfter, .retryAfter, nil])
        #expect(begun == [.zero, .seconds(7), .seconds(27)])
        let short = try RetryPolicy(deadline: .seconds(5))
        let error = try #require(try retry(errors, target: target(), policy: short).result.failure)
        #expect(error.ending == .deadlineExpired)
    }

    @Test func `sent attempts and all attempts have separate limits`() throws {
        let three = retry(Array(repeating: Self.reset, count: 9), target: try target())
        #expect(three.attempts.count == 3)
        #expect(try #require(three.result.failure).ending == .attemptsExhausted)
        let policy = try RetryPolicy(attempts: 5)
        #expect(
            retry(Array(repeating: Self.unreachable, count: 9), target: try target(), policy: policy).attempts.count
                == 5
        )
    }

    @Test func `an error of neither the network nor the server ends the request`() throws {
        struct Other: Error {}
        let (result, begun) = retry([Other()], target: try target())
        #expect(try #require(result.failure).ending == .notRetryable && begun.count == 1)
        let other = try #require(try retry([StatusFailure(status: 404)], target: target()).result.failure)
        #expect(other.ending == .notRetryable)
    }

    @Test func `a cancellation removes the request from the queue immediately`() throws {
        network.set(reachable: false)
        let coordinator = makeCoordinator()
        let target = try target()
        let ending = world.run { [world] () -> RetryError.Ending? in
            await withTaskGroup(of: RetryError.Ending?.self) { group in
                group.addTask { await world.ending(target, coordinator) { _ in throw Self.unreachable } }
                try? await world.sleep(for: .seconds(5))
                #expect(coordinator.waitingCount(for: "example.org") == 1)
                group.cancelAll()
                let ending = await group.next() ?? nil
                #expect(coordinator.waitingCount(for: "example.org") == 0)
                return ending
            }
        }
        #expect(ending == .cancelled)
        #expect(world.time == .seconds(5))
    }
}
