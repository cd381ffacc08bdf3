import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Retries with an advisor.
@Suite struct AdvisorTests {
    /// An advisor that takes a second, and whose obstacle ends after a minute.
    private struct Advisor: RetryAdvisor {
        let world: VirtualWorld
        let advice: RetryAdvice

        func advice(for host: String?) async -> RetryAdvice {
            try? await world.sleep(for: .seconds(1))
            return advice
        }

        func waitForEnd(of host: String?) async {
            try? await world.sleep(until: VirtualWorld.Instant(offset: .seconds(60)), tolerance: nil)
        }
    }

    /// Runs a request that fails with the errors and then succeeds. Returns the outcome, the start times of the
    /// attempts, the reasons of the waits and the remaining budget.
    private func retry(
        _ advice: RetryAdvice?,
        errors: [SocketFailure] = .init(repeating: RetryTests.unreachable, count: 4),
        deadline: Duration = .seconds(300),
        meanwhile: @escaping @Sendable (VirtualWorld, PlayedNetwork) async -> Void = { _, _ in }
    ) throws -> (outcome: Result<Int, RetryError>, attempts: [Duration], reasons: [RetryReason?], budget: Int) {
        let (world, network) = (VirtualWorld(), PlayedNetwork())
        let coordinator = world.coordinator(network, advisor: advice.map { Advisor(world: world, advice: $0) })
        let policy = try RetryPolicy(deadline: deadline)
        let target = try RetryTarget(host: "example.org", method: .get)
        let begun = RecordingListener<Duration>()
        let result = world.result {
            await meanwhile(world, network)
        } _: { () throws(RetryError) in
            try await withRetry(policy: policy, target: target, coordinator: coordinator, clock: world) { number in
                begun.record(world.time)
                if number <= errors.count { throw errors[number - 1] }
                return number
            }
        }
        let attempts = (try? result.get())?.attempts ?? result.failure?.attempts ?? []
        #expect(network.watchCount == 0 && coordinator.waitingCount(for: "example.org") == 0)
        let budget = coordinator.remainingBudget(for: "example.org")
        return (result.map(\.value), begun.values, attempts.map(\.reason), budget)
    }

    @Test func `advice to wait delays the retry until the obstacle ends, at no charge to the budget`() throws {
        let (outcome, attempts, reasons, budget) = try retry(.wait, errors: [RetryTests.unreachable])
        #expect((try outcome.get()) == 2 && attempts.count == 2 && reasons == [.obstacle, nil])
        #expect(attempts[1] >= .seconds(60) && attempts[1] < .milliseconds(60_100), "\(attempts)")
        #expect(budget == RetryLimits.standard.budget.capacity)
    }

    @Test func `the deadline ends a wait for an obstacle that stays`() throws {
        let (outcome, attempts, _, _) = try retry(.wait, deadline: .seconds(30))
        let error = try #require(outcome.failure)
        #expect(error.ending == .deadlineExpired && attempts.count == 1)
        #expect(error.attempts[0].wait == .seconds(30), "\(error.attempts)")
    }

    @Test func `advice to end stops the retries`() throws {
        let (outcome, attempts, _, _) = try retry(.end)
        #expect(try #require(outcome.failure).ending == .notRetryable && attempts.count == 1)
    }

    @Test(arguments: [RetryAdvice.followPolicy, .backOff])
    func `other advice keeps the backoff, and the query counts as waiting time`(advice: RetryAdvice) throws {
        let (outcome, attempts, reasons, _) = try retry(advice)
        let plain = try retry(nil)
        #expect((try outcome.get()) == 5 && reasons == [.backoff, .backoff, .backoff, .backoff, nil])
        // Each pause is that without an advisor, but at least the second that the advisor takes.
        for (pauses, others) in [(differences(attempts), differences(plain.attempts))] {
            for (pause, other) in zip(pauses, others) {
                let expected = max(other, .seconds(1))
                #expect(pause >= expected && pause < expected + .milliseconds(100), "\(attempts) \(plain.attempts)")
            }
        }
    }

    private func differences(_ times: [Duration]) -> [Duration] { zip(times.dropFirst(), times).map { $0 - $1 } }

    @Test(arguments: [(RetryAdvice.followPolicy, RetryReason.newPath), (.backOff, .backoff)])
    func `a new path does not end the backoff when the advisor blames the host`(
        advice: RetryAdvice,
        reason: RetryReason
    ) throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, advisor: Advisor(world: world, advice: advice))
        let target = try RetryTarget(host: "example.org", method: .get)
        let reasons: [RetryReason?] = world.run {
            let outcome = try? await withRetry(target: target, coordinator: coordinator, clock: world) { number in
                // The first failure starts the watch, so the second attempt begins with a known path.
                if number == 2 { network.change() }
                if number <= 2 { throw RetryTests.unreachable }
                return number
            }
            return outcome?.attempts.map(\.reason) ?? []
        }
        #expect(reasons == [.backoff, reason, nil], "\(reasons)")
    }

    @Test func `the advisor is not called after a response of the server`() throws {
        let world = VirtualWorld()
        let coordinator = world.coordinator(PlayedNetwork(), advisor: Advisor(world: world, advice: .end))
        let target = try RetryTarget(host: "example.org", method: .get)
        let count: Int? = world.run {
            try? await withRetry(target: target, coordinator: coordinator, clock: world) { number in
                if number == 1 { throw StatusFailure(status: 503, retryAfter: .seconds(2)) }
                return number
            }.value
        }
        #expect(count == 2)
    }
}
