import ReachabilityRequests
import ReachabilityRetry

/// Downloads a file across interruptions of the network. If it is started again, it resumes:
/// ResumingDownload https://example.org/image.iso image.iso
@main enum ResumingDownload {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            fatalError("usage: ResumingDownload URL FILE")
        }
        // The deadline limits each wait for the network, not the duration of the download.
        let policy = try RetryPolicy(deadline: .seconds(86_400), attemptsUnresolved: 20, attemptsRefused: 20)
        let session = Session(retry: policy)
        let download = session.download(CommandLine.arguments[1], to: CommandLine.arguments[2])
        let progress = download.downloadProgress()
        Task {
            for await step in progress {
                let state = step.isWaitingForNetwork ? "waiting for the network" : "of \(step.totalUnitCount)"
                print(step.completedUnitCount, state, step.restartReason.map { "started over: \($0)" } ?? "")
            }
        }
        let response = await download.serializingDownloadedFileURL().response
        print(response.error.map(String.init) ?? "\(CommandLine.arguments[2]) is complete")
        if let metrics = response.metrics {
            print("\(metrics.receivedBytes) bytes received, attempts: \(metrics.attempts.count)")
        }
    }
}
