import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import ReachabilityRetry

/// Adapters and retriers in Alamofire's form.
@Suite struct InterceptionTests {
    private func failed(_ method: RequestMethod, _ stage: FailureStage?, retries: Int = 0) -> FailedRequest {
        FailedRequest(
            request: RequestHead(method: method, url: "https://example.org/"),
            retryCount: retries,
            stage: stage
        )
    }

    private struct Failure: Error {}

    @Test(arguments: [
        (104, ConnectionPhase.exchanging, true), (32, .exchanging, true), (110, .exchanging, false),
        (111, .connecting, false), (104, .connecting, false), (101, .exchanging, false),
    ])
    func `only errors of an established connection count as a lost connection`(
        number: Int32,
        phase: ConnectionPhase,
        isLost: Bool
    ) {
        #expect(SocketFailure(errorNumber: number, during: phase).isConnectionLost == isLost)
    }

    @Test func `the retrier is not called after a cancellation`() async throws {
        let asked = RecordingListener<Int>()
        let retrier = Retrier { _, _, completion in
            asked.record(1)
            completion(.retry)
        }
        let options = RequestRetryOptions(
            retrier: retrier,
            coordinator: RetryCoordinator(reachability: PlayedNetwork())
        )
        let begun = RecordingListener<Int>()
        let task = Task {
            try await withRetry(RequestHead(url: "https://example.org/"), options: options) { _ in
                begun.record(1)
                // A client that responds to a cancellation with its own error.
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

    @Test(arguments: [404, 503]) func `the offline retrier does not retry a request with a response`(
        status: Int
    ) async throws {
        let network = PlayedNetwork()
        network.set(reachable: false)
        let retrier = try OfflineRetrier(reachability: network, isOfflineError: { _, _ in true })
        let error = StatusFailure(status: status, retryAfter: .zero)
        let result = await retrier.retry(failed(.get, error.failureStage), dueTo: error)
        if case .doNotRetry = result {} else { Issue.record("retried a request with a response") }
        #expect(network.watchesMade == 0)
    }

    @Test func `an interceptor runs all adapters in order, and the first deciding retrier decides`() async throws {
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
            coordinator: RetryCoordinator(reachability: PlayedNetwork())
        )
        let outcome = try await withRetry(RequestHead(url: "https://example.org/"), options: options) { request in
            attempts.record(request["TRACE"] ?? "")
            if attempts.count == 1 { throw Failure() }
        }
        #expect(attempts.values == ["ab", "ab"] && outcome.attempts.map(\.reason) == [.retrier, nil])
        #expect(asked.values == [0, 1])
    }

    @Test func `the offline retrier waits five seconds, and never for a POST that may have been processed`() throws {
        for (returns, retries) in [(Duration.seconds(4), true), (.seconds(6), false)] {
            let world = VirtualWorld()
            let network = PlayedNetwork()
            network.set(reachable: false)
            let retrier = try OfflineRetrier(reachability: network, clock: world)
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
            if case .doNotRetry = second {} else { Issue.record("retried a request that may have been processed") }
        }
    }
}
