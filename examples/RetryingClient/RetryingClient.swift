import ReachabilityRequests
import ReachabilityRetry

/// Fetches a URL, and waits while there is no network: RetryingClient https://example.org/
@main enum RetryingClient {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            fatalError("usage: RetryingClient URL")
        }
        let policy = try RetryPolicy(deadline: .seconds(120))
        let session = Session(retry: policy, headers: [.userAgent("RetryingClient")])
        let request = session.request(CommandLine.arguments[1]).validate()
        let response = await request.serializingData().response
        print(response)
        if let body = response.value { print(body.count, "bytes") }
        for attempt in response.metrics?.attempts ?? [] {
            guard let error = attempt.error else { continue }
            let reachability = attempt.reachability.map(String.init) ?? "-"
            let reason = attempt.reason?.rawValue ?? "nothing"
            print("attempt \(attempt.number): \(error), \(reachability), waited \(attempt.wait) for \(reason)")
        }
    }
}
