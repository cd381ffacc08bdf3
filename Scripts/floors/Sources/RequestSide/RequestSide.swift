import AsyncHTTPClient
import Foundation
import FoundationNetworking
import ReachabilityHTTP
import ReachabilityOutbox
import ReachabilityRetry
import ReachabilityURLSession

/// Uses each product of the request side with a word of its own on reachability. It makes requests to a port nobody listens at.
@main enum RequestSide {
    static let url = "http://127.0.0.1:1/"

    static func main() async throws {
        let coordinator = RetryCoordinator(verdicts: Reachable())
        let options = RequestRetryOptions(coordinator: coordinator)
        let policy = try RetryPolicy(attempts: 1)
        let target = try RetryTarget(host: "127.0.0.1", method: .get)
        let outcome = try await withRetry(target: target, coordinator: coordinator) { $0 }
        print("attempt", outcome.value)

        do throws(RetryError) {
            _ = try await RetryingHTTPClient.shared.execute(HTTPClientRequest(url: url), retry: policy, options: options)
        } catch {
            print("async-http-client:", error.ending)
        }
        do throws(RetryError) {
            guard let url = URL(string: url) else { return }
            _ = try await URLSession.shared.data(for: URLRequest(url: url), retry: policy, options: options)
        } catch {
            print("URLSession:", error.ending)
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outbox-\(UUID()).sqlite").path
        let outbox = try await Outbox(file: file)
        try await outbox.enqueue(OutboxRequest("POST", url))
        print("left in the outbox:", try await outbox.flush(sender: Taker(), coordinator: coordinator))
        try await outbox.close()
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: file + suffix) }
    }
}

/// A network that is always there.
struct Reachable: VerdictSource {
    func watch(_ host: String?, _ listener: @escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch {
        listener(Watch.verdict)
        return Watch()
    }

    private final class Watch: VerdictWatch {
        static let verdict = RetryVerdict(status: .reachable, generation: 1)

        func ask() -> RetryVerdict { Self.verdict }
    }
}

/// Takes all.
struct Taker: OutboxSender {
    func send(_ delivery: OutboxDelivery) async -> OutboxResult { .delivered }
}
