import ReachabilityRequests
import ReachabilityRetry

/// Fetches a file, however often the network goes away meanwhile; started again, it goes on where it was:
/// ResumingDownload https://example.org/image.iso image.iso
@main enum ResumingDownload {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            fatalError("usage: ResumingDownload URL FILE")
        }
        // So long it waits for the network at a time. How long the file takes does not matter.
        let policy = try RetryPolicy(deadline: .seconds(86_400), attemptsUnresolved: 20, attemptsRefused: 20)
        let session = Session(retry: policy)
        let download = session.download(CommandLine.arguments[1], to: CommandLine.arguments[2])
        let progress = download.progress
        Task {
            for await step in progress {
                let state = step.isWaitingForNetwork ? "waiting for the network" : "of \(step.total ?? -1)"
                print(step.completed, state, step.restartReason.map { "started over: \($0)" } ?? "")
            }
        }
        let response = await download.response()
        print(response.error.map(String.init) ?? "\(download.destination) is there")
        print("\(response.metrics.receivedBytes) bytes came, attempts: \(response.metrics.attempts.count)")
    }
}
