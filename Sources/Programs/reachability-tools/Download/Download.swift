import ArgumentParser
import AsyncHTTPClient
import CommandLineSupport
import LinuxSupport
import ReachabilityHTTP
import ReachabilityRequests
import ReachabilityRetry

/// `reachability download`: a file, however often the network goes away meanwhile.
struct Download: AsyncParsableCommand {
    static let configuration = DownloadArguments.configuration

    @OptionGroup var arguments: DownloadArguments

    func run() async throws {
        let plan = try DownloadPlan(arguments)
        let client = RetryingHTTPClient(configuration: try .forDownload(of: plan.url))
        let result: Result<Void, any Error>
        do { result = .success(try await fetch(plan, with: client)) } catch { result = .failure(error) }
        try? await client.shutdown()
        try result.get()
    }

    private func fetch(_ plan: DownloadPlan, with client: RetryingHTTPClient) async throws {
        // Not begun before it knows what the file must be.
        let session = Session(
            client: client,
            retry: .untilNothingComes,
            headers: plan.headers,
            startRequestsImmediately: false
        )
        let request =
            session
            .download(plan.url.text, to: plan.path, replacing: arguments.force)
        if let digest = plan.digest { request.validateFile(digest.check) }
        let end = DownloadEnd(deadline: plan.deadline) { request.cancel() }
        let shown = ProgressDisplay(request.progress)
        let response = await request.response()
        await shown.end()
        switch response.result {
        case .success: shown.tellSize(of: plan.path)
        case .failure(.explicitlyCancelled): throw end.told(of: response, at: plan.path)
        case .failure(let error): throw ExitMessage(error, replacing: arguments.force)
        }
    }
}

extension RetryPolicy {
    /// As long as the network is away, and 20 attempts in a row that bring nothing: about six minutes.
    fileprivate static let untilNothingComes = RetryPolicy(
        checkedDeadline: nil,
        attempts: 20,
        attemptsAfterSending: 20,
        attemptsUnresolved: standard.attemptsUnresolved,
        backoff: standard.backoff,
        retryAfterCap: standard.retryAfterCap,
        statuses: standardStatuses,
        methods: nil,
        waitsFirst: true,
        classify: classifyRetryableErrors
    )
}
