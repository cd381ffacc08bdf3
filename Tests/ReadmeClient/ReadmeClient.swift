import AsyncHTTPClient
import Foundation
import FoundationNetworking
import ReachabilityHTTP
import ReachabilityRetry
import ReachabilityURLSession

/// A program that sends one request with the shared client of the process, as in `docs/retry.md`.
///
/// usage: ReadmeClient http|session METHOD URL
///
/// It prints `waits` when the request waits for the network for the first time. At the end it prints a line for each
/// attempt (stage and error), and the status of the response or the reason why there is none.
@main
struct ReadmeClient {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let url = URL(string: arguments[3]) else { exit(2) }
        let watch = Task {
            while RetryCoordinator.shared.waitingCount(for: url.host) == 0 {
                try await Task.sleep(for: .milliseconds(1))
            }
            say("waits")
        }
        do throws(RetryError) {
            let (status, attempts) = try await send(arguments[1], arguments[2], url)
            watch.cancel()
            tell(attempts)
            say("status \(status)")
        } catch {
            watch.cancel()
            tell(error.attempts)
            say("ended: \(error.ending)")
        }
    }

    private static func send(
        _ client: String,
        _ method: String,
        _ url: URL
    ) async throws(RetryError) -> (Int, [RetryAttempt]) {
        switch client {
        case "http":
            var request = HTTPClientRequest(url: url.absoluteString)
            request.method = .init(rawValue: method)
            let outcome = try await RetryingHTTPClient.shared.execute(request)
            return (Int(outcome.value.status.code), outcome.attempts)
        default:
            var request = URLRequest(url: url)
            request.httpMethod = method
            let outcome = try await URLSession.shared.data(for: request, retry: .standard)
            return ((outcome.value.1 as? HTTPURLResponse)?.statusCode ?? 0, outcome.attempts)
        }
    }

    private static func tell(_ attempts: [RetryAttempt]) {
        for attempt in attempts {
            let stage = attempt.stage.map { "\($0)" } ?? "answered"
            say("attempt: \(stage)\(attempt.error.map { ": \($0)" } ?? "")")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
