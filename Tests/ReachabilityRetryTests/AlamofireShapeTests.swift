import Netlink
import NetworkReachability
import NetworkReachabilityTesting
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
        let policy = try RetryPolicy()
        let error = Failure()
        #expect(delay(await policy.retry(failed(.get, .neverSent), dueTo: error)) == .milliseconds(500))
        #expect(
            delay(await policy.retry(failed(.get, .answered(status: 503), retries: 1), dueTo: error)) == .seconds(1)
        )
        #expect(delay(await policy.retry(failed(.get, .neverSent, retries: 2), dueTo: error)) == nil)
        #expect(delay(await policy.retry(failed(.post, .neverSent), dueTo: error)) == nil)
        #expect(delay(await policy.retry(failed(.get, .answered(status: 429)), dueTo: error)) == nil)
        let lost = try ConnectionLostRetryPolicy()
        #expect(delay(await lost.retry(failed(.get, .mayHaveBeenProcessed), dueTo: error)) == .milliseconds(500))
        #expect(delay(await lost.retry(failed(.get, .neverSent), dueTo: error)) == nil)
        #expect(throws: RetryPolicyError.self) { try RetryPolicy(exponentialBackoffBase: 1) }
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
        try await withInterceptor(PlainRequest(url: "https://example.org/"), interceptor: interceptor) { request in
            attempts.record(request["TRACE"] ?? "")
            if attempts.count == 1 { throw Failure() }
        }
        #expect(attempts.values == ["ab", "ab"])
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
