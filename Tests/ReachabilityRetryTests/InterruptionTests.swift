import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityRetry

/// The path goes away while an answer is read, and comes back.
@Suite struct InterruptionTests {
    private let world = VirtualWorld()
    private let network = PlayedNetwork()

    /// An answer that stands still for ever, while the path is away for so long after two seconds; the second attempt is answered.
    private func outcome(of away: Duration, resumes: Bool) throws -> RetryOutcome<Int> {
        let limits = try RetryLimits(spread: .zero)
        let random = SeededGenerator(seed: 5)
        let coordinator = RetryCoordinator(limits: limits, verdicts: network, clock: world, random: random)
        var options = RequestRetryOptions(coordinator: coordinator, clock: world)
        options.resumes = { resumes }
        let count = Locked(0)
        let retried = RetriedRequest<Int>(
            PlainRequest(method: .get, url: "https://example.org/"),
            host: "example.org",
            policy: try RetryPolicy(deadline: .seconds(600)),
            options: options,
            body: .none
        ) { [world] _, progress in
            progress.send()
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { try await world.sleep(for: .seconds(60)) }
            return ClientAnswer(number, AnswerHead(status: 200) { _ in nil })
        }
        let result = world.run { [world, network] () -> Result<RetryOutcome<Int>, RetryError> in
            async let cable: Void = {
                try? await world.sleep(for: .seconds(2))
                network.set(reachable: false)
                try? await world.sleep(for: away)
                network.set(reachable: true)
            }()
            let result: Result<RetryOutcome<Int>, RetryError>
            do throws(RetryError) { result = .success(try await retried.run()) } catch { result = .failure(error) }
            await cable
            return result
        }
        return try result.get()
    }

    @Test(arguments: [1, 3, 10, 30])
    func `what is missing is asked for as soon as the path is back`(seconds: Int) throws {
        let attempts = try outcome(of: .seconds(seconds), resumes: true).attempts
        #expect(attempts.count == 2 && (attempts[0].error as? AttemptError)?.code == "pathInterrupted")
        #expect(attempts[0].stage == .mayHaveBeenProcessed)
        #expect(attempts[0].ended == .seconds(2 + seconds))
    }

    @Test func `after a short loss TCP goes on by itself as soon`() throws {
        let outcome = try outcome(of: .milliseconds(300), resumes: true)
        #expect(outcome.attempts.count == 1 && outcome.value == 1)
    }

    @Test func `an answer that cannot be gone on with is waited for`() throws {
        let outcome = try outcome(of: .seconds(30), resumes: false)
        #expect(outcome.attempts.count == 1 && outcome.value == 1)
    }
}
