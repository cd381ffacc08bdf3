import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// What somebody advises who has looked with packets.
@Suite struct AdvisorTests {
    /// Takes a second to find out, and has its wait end at a minute.
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

    /// Fails four times, then succeeds; says what came of it, when attempts began, and what is left of the budget.
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

    @Test func `a portal is waited for, at no charge`() throws {
        let (outcome, attempts, reasons, budget) = try retry(.wait, errors: [RetryTests.unreachable])
        #expect((try outcome.get()) == 2 && attempts.count == 2 && reasons == [.obstacle, nil])
        #expect(attempts[1] >= .seconds(60) && attempts[1] < .milliseconds(60_100), "\(attempts)")
        #expect(budget == RetryLimits.standard.budget.capacity)
    }

    @Test func `a portal that stays ends with the deadline`() throws {
        let (outcome, attempts, _, _) = try retry(.wait, deadline: .seconds(30))
        let error = try #require(outcome.failure)
        #expect(error.ending == .deadlineExpired && attempts.count == 1)
        #expect(error.attempts[0].wait == .seconds(30), "\(error.attempts)")
    }

    @Test func `a certificate that is not trusted ends it`() throws {
        let (outcome, attempts, _, _) = try retry(.end)
        let error = try #require(outcome.failure)
        #expect(error.ending == .notRetryable && attempts.count == 1)
    }

    @Test(arguments: [RetryAdvice.goOn, .backOff])
    func `what else is found goes by the backoff, and asking takes no longer`(advice: RetryAdvice) throws {
        let (outcome, attempts, reasons, _) = try retry(advice)
        let plain = try retry(nil)
        #expect((try outcome.get()) == 5 && reasons == [.backoff, .backoff, .backoff, .backoff, nil])
        // Each pause is the one without an advisor, or the second it took to ask.
        for (pauses, others) in [(differences(attempts), differences(plain.attempts))] {
            for (pause, other) in zip(pauses, others) {
                let expected = max(other, .seconds(1))
                #expect(pause >= expected && pause < expected + .milliseconds(100), "\(attempts) \(plain.attempts)")
            }
        }
    }

    private func differences(_ times: [Duration]) -> [Duration] { zip(times.dropFirst(), times).map { $0 - $1 } }

    @Test(arguments: [(RetryAdvice.goOn, RetryReason.newPath), (.backOff, .backoff)])
    func `another path does not help where it is the host`(advice: RetryAdvice, reason: RetryReason) throws {
        let world = VirtualWorld()
        let network = PlayedNetwork()
        let coordinator = world.coordinator(network, advisor: Advisor(world: world, advice: advice))
        let target = try RetryTarget(host: "example.org", method: .get)
        let reasons: [RetryReason?] = world.run {
            let outcome = try? await withRetry(target: target, coordinator: coordinator, clock: world) { number in
                // The first failure makes somebody follow the path, so that the second attempt begins with a known one.
                if number == 2 { network.change() }
                if number <= 2 { throw RetryTests.unreachable }
                return number
            }
            return outcome?.attempts.map(\.reason) ?? []
        }
        #expect(reasons == [.backoff, reason, nil], "\(reasons)")
    }

    @Test func `an answer of the server, or none of the network's, needs nobody's advice`() throws {
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
