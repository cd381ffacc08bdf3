import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Alamofire's rules and defaults.
@Suite struct AlamofireShapeTests {
    private func failed(_ method: RequestMethod, _ stage: FailureStage?, retries: Int = 0) -> FailedRequest {
        FailedRequest(
            request: PlainRequest(method: method, url: "https://example.org/"),
            retryCount: retries,
            stage: stage
        )
    }

    private struct Failure: Error {}

    private func delay(_ result: RetryResult) -> Duration? {
        if case .retryWithDelay(let delay) = result { delay } else { nil }
    }

    @Test func `the retry policy's defaults`() async throws {
        let policy = try RetryPolicy(retryLimit: 2)
        let error = Failure()
        #expect(delay(await policy.retry(failed(.get, .neverSent), dueTo: error)) == .milliseconds(500))
        #expect(
            delay(await policy.retry(failed(.get, .answered(status: 503), retries: 1), dueTo: error)) == .seconds(1)
        )
        #expect(delay(await policy.retry(failed(.get, .neverSent, retries: 2), dueTo: error)) == nil)
        #expect(delay(await policy.retry(failed(.post, .mayHaveBeenProcessed), dueTo: error)) == nil)
        // What was not sent may be sent again, whatever the method.
        #expect(delay(await policy.retry(failed(.post, .neverSent), dueTo: error)) == .milliseconds(500))
        #expect(delay(await policy.retry(failed(.get, .answered(status: 429)), dueTo: error)) == nil)
        #expect(throws: RetryPolicyError.self) { try RetryPolicy(retryLimit: 2, exponentialBackoffBase: 1) }
    }

    @Test(arguments: [
        (104, ConnectionPhase.exchanging, RequestMethod.get, true), (32, .exchanging, .put, true),
        (104, .exchanging, .post, false), (110, .exchanging, .get, false), (111, .connecting, .get, false),
        (104, .connecting, .get, false), (101, .exchanging, .get, false),
    ])
    func `only a lost connection is retried, and only with an idempotent method`(
        number: Int32,
        phase: ConnectionPhase,
        method: RequestMethod,
        isRetried: Bool
    ) async throws {
        let lost = try ConnectionLostRetryPolicy()
        let error = SocketFailure(errorNumber: number, during: phase)
        let result = await lost.retry(failed(method, error.failureStage), dueTo: error)
        #expect(delay(result) == (isRetried ? .milliseconds(500) : nil))
    }

    @Test func `errors that do not tell, and answers, are no lost connections`() async throws {
        let lost = try ConnectionLostRetryPolicy()
        #expect(delay(await lost.retry(failed(.get, .mayHaveBeenProcessed), dueTo: Failure())) == nil)
        let answered = StatusFailure(status: 500)
        #expect(delay(await lost.retry(failed(.get, answered.failureStage), dueTo: answered)) == nil)
    }

    @Test func `after a cancellation no retrier is asked`() async throws {
        let asked = RecordingListener<Int>()
        let retrier = Retrier { _, _, completion in
            asked.record(1)
            completion(.retry)
        }
        let options = RequestRetryOptions(retrier: retrier, coordinator: RetryCoordinator(verdicts: PlayedNetwork()))
        let begun = RecordingListener<Int>()
        let task = Task {
            try await withRetry(PlainRequest(url: "https://example.org/"), options: options) { _ in
                begun.record(1)
                // A client that answers a cancellation with an error of its own.
                while !Task.isCancelled { await Task.yield() }
                throw Failure()
            }
        }
        while begun.count == 0 { await Task.yield() }
        task.cancel()
        let error = await #expect(throws: RetryError.self) { try await task.value }
        #expect(error?.ending == .cancelled && error?.underlyingError is CancellationError)
        #expect(error?.lastError is Failure && asked.count == 0)
    }

    @Test(arguments: [404, 503]) func `the offline retrier does not retry what was answered`(status: Int) async throws {
        let network = PlayedNetwork()
        network.set(reachable: false)
        let retrier = try OfflineRetrier(verdicts: network, isOfflineError: { _, _ in true })
        let error = StatusFailure(status: status, retryAfter: .zero)
        let result = await retrier.retry(failed(.get, error.failureStage), dueTo: error)
        if case .doNotRetry = result {} else { Issue.record("retried an answer") }
        #expect(network.watchesMade == 0)
    }

    @Test func `all adapt in order, the first that answers decides`() async throws {
        let adapters = ["a", "b"].map { letter in
            Adapter { request, completion in
                var request = request
                request["Trace"] = (request["trace"] ?? "") + letter
                completion(.success(request))
            }
        }
        let asked = RecordingListener<Int>()
        let retriers = [RetryResult.doNotRetry, .retry, .doNotRetryWithError(Failure())].enumerated().map {
            number,
            result in
            Retrier { _, _, completion in
                asked.record(number)
                completion(result)
            }
        }
        let interceptor = Interceptor(adapters: adapters, retriers: retriers)
        let attempts = RecordingListener<String>()
        let options = RequestRetryOptions(
            adapter: interceptor,
            retrier: interceptor,
            coordinator: RetryCoordinator(verdicts: PlayedNetwork())
        )
        let outcome = try await withRetry(PlainRequest(url: "https://example.org/"), options: options) { request in
            attempts.record(request["TRACE"] ?? "")
            if attempts.count == 1 { throw Failure() }
        }
        #expect(attempts.values == ["ab", "ab"] && outcome.attempts.map(\.reason) == [.retrier, nil])
        #expect(asked.values == [0, 1])
    }

    @Test func `the offline retrier waits five seconds, and not for what may have been done`() throws {
        for (returns, retries) in [(Duration.seconds(4), true), (.seconds(6), false)] {
            let world = VirtualWorld()
            let network = PlayedNetwork()
            network.set(reachable: false)
            let retrier = try OfflineRetrier(verdicts: network, clock: world)
            let request = failed(.post, .neverSent)
            let (result, time) = world.run {
                await withTaskGroup { group in
                    group.addTask {
                        try? await world.sleep(for: returns)
                        network.set(reachable: true)
                    }
                    let result = await retrier.retry(request, dueTo: Failure())
                    return (result, world.time)
                }
            }
            if case .retry = result { #expect(retries) } else { #expect(!retries) }
            #expect(time == min(returns, .seconds(5)))
            let other = failed(.post, .mayHaveBeenProcessed)
            let second = world.run { await retrier.retry(other, dueTo: Failure()) }
            if case .doNotRetry = second {} else { Issue.record("retried what may have been done") }
        }
    }
}
