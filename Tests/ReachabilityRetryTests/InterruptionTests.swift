import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityRetry

/// The path is lost while a response is read, and returns.
@Suite struct InterruptionTests {
    private let world = VirtualWorld()
    private let network = PlayedNetwork()

    /// Runs a request whose first response hangs. The path is lost after two seconds, for the given duration. The
    /// second attempt receives a response.
    private func outcome(of away: Duration, resumes: Bool) throws -> RetryOutcome<Int> {
        let coordinator = world.coordinator(network, try RetryLimits(spread: .zero), seed: 5)
        var options = RequestRetryOptions(coordinator: coordinator, clock: world)
        options.resumes = { resumes }
        let policy = try RetryPolicy(deadline: .seconds(600))
        let retried = world.hangingOnce(for: .seconds(60), policy: policy, options: options)
        return try world.result {
            [world, network] in
            try? await world.sleep(for: .seconds(2))
            network.set(reachable: false)
            try? await world.sleep(for: away)
            network.set(reachable: true)
        } _: { () throws(RetryError) in
            try await retried.run()
        }.get()
    }

    @Test(arguments: [1, 3, 10, 30])
    func `an interrupted response is continued as soon as the path is back`(seconds: Int) throws {
        let attempts = try outcome(of: .seconds(seconds), resumes: true).attempts
        #expect(attempts.count == 2 && (attempts[0].error as? AttemptError)?.code == "pathInterrupted")
        #expect(attempts[0].stage == .mayHaveBeenProcessed)
        #expect(attempts[0].ended == .seconds(2 + seconds))
    }

    @Test func `a short interruption is left to TCP`() throws {
        let outcome = try outcome(of: .milliseconds(300), resumes: true)
        #expect(outcome.attempts.count == 1 && outcome.value == 1)
    }

    @Test func `a response that cannot be continued is awaited`() throws {
        let outcome = try outcome(of: .seconds(30), resumes: false)
        #expect(outcome.attempts.count == 1 && outcome.value == 1)
    }
}

extension VirtualWorld {
    /// Returns a request whose first attempt hangs for the duration. The value of the second is its number.
    func hangingOnce(
        _ method: RequestMethod = .get,
        for duration: Duration = .seconds(3600),
        policy: RetryPolicy = .standard,
        options: RequestRetryOptions,
        isSent: Bool = true
    ) -> NumberedRequest {
        let count = Locked(0)
        return NumberedRequest(
            RequestHead(method: method, url: "https://example.org/"),
            policy: policy,
            options: options
        ) { [self] progress in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if isSent { progress.send() }
            if number == 1 { try await sleep(for: duration) }
            if !isSent { progress.send() }
            return (number, ResponseHead(status: 200) { _ in nil })
        }
    }
}
