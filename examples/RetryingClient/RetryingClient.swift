import AsyncHTTPClient
import ReachabilityHTTP
import ReachabilityRetry

/// Fetches a URL, and waits for the network where there is none: RetryingClient https://example.org/
@main enum RetryingClient {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            fatalError("usage: RetryingClient URL")
        }
        var configuration = HTTPClient.Configuration()
        // The monitor knows when a connection can be made; the client would try by the clock.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(3)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)

        let policy = try RetryPolicy(deadline: .seconds(120))
        let adapter = Adapter { request, completion in
            var request = request
            request["User-Agent"] = "RetryingClient"
            completion(.success(request))
        }
        do throws(RetryError) {
            let request = HTTPClientRequest(url: CommandLine.arguments[1])
            let options = RequestRetryOptions(adapter: adapter)
            let outcome = try await client.execute(request, retry: policy, options: options) {
                // Read here, a body that breaks off is retried too.
                try await $0.body.collect(upTo: 16 << 20).readableBytes
            }
            print("\(outcome.value) bytes, attempts:", outcome.attempts.count)
            for attempt in outcome.attempts { report(attempt) }
        } catch {
            print(error)
            for attempt in error.attempts { report(attempt) }
        }
        try await client.shutdown()
    }

    private static func report(_ attempt: RetryAttempt) {
        guard let error = attempt.error else { return }
        let verdict = attempt.verdict.map(String.init) ?? "-"
        let reason = attempt.reason?.rawValue ?? "nothing"
        print("attempt \(attempt.number): \(error), \(verdict), waited \(attempt.wait) for \(reason)")
    }
}
