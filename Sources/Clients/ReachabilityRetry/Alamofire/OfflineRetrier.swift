import LinuxSupport

/// Waits for the network when a request fails offline, and retries when it is back in time, as Alamofire's class of this name,
/// which does not exist on Linux.
///
/// What is offline is asked of the monitor: error codes on Linux do not tell. A request that was answered is not retried, whatever the
/// monitor says. Unlike there, a request that may have been processed is retried only if its method is idempotent or it has an
/// idempotency key; so is one whose error does not tell.
public final class OfflineRetrier: RequestInterceptor {
    /// Whether a failure means offline, by its error and by what the monitor says right after.
    public typealias OfflineCheck = @Sendable (_ error: any Error, _ verdict: RetryVerdict) -> Bool

    /// The monitor says "not reachable", whatever the error; of a name that is not resolved that is not enough.
    public static let defaultIsOfflineError: OfflineCheck = { _, verdict in verdict.isOffline }

    /// Five seconds.
    public static let defaultWait = Duration.seconds(5)

    private let maximumWait: Duration
    private let host: String?
    private let isOfflineError: OfflineCheck
    private let verdicts: any VerdictSource
    private let timeline: Timeline

    /// - Parameters:
    ///   - host: Whose reachability is waited for; nil for the network at large.
    ///   - maximumWait: How long to wait for it.
    ///   - verdicts: Who says whether it is reachable. The default is the kernel.
    ///   - clock: What measures the wait.
    ///   - isOfflineError: Whether a failure means offline; false leaves it to the next retrier.
    /// - Throws: ``RetryPolicyError`` when the wait is negative.
    public init(
        host: String? = nil,
        maximumWait: Duration = defaultWait,
        verdicts: any VerdictSource = MonitoredVerdicts(),
        clock: some Clock<Duration> = ContinuousClock(),
        isOfflineError: @escaping OfflineCheck = defaultIsOfflineError
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(maximumWait, "the longest wait for the network")
        self.host = host
        self.maximumWait = maximumWait
        self.verdicts = verdicts
        self.isOfflineError = isOfflineError
        timeline = Timeline(clock)
    }

    /// Retry when the network is back within the wait; else the next retrier is asked, and the error stays what it is.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let isRepeatable = request.request.method.isIdempotent || request.hasIdempotencyKey
        let stage = request.stage ?? .mayHaveBeenProcessed
        guard stage.isOfNetwork, stage.maySendAgain(isRepeatable: isRepeatable) else { return .doNotRetry }
        let (news, listener) = AsyncStream.makeStream(of: RetryVerdict.self, bufferingPolicy: .bufferingNewest(1))
        let watch = verdicts.watch(host) { listener.yield($0) }
        defer { withExtendedLifetime(watch) {} }
        let asked = watch.ask()
        guard isOfflineError(error, asked) else { return .doNotRetry }
        let end = timeline.now + maximumWait
        return await withTaskGroup(of: RetryResult.self) { group in
            group.addTask { [timeline] in
                try? await timeline.sleep(until: end)
                return .doNotRetry
            }
            group.addTask {
                for await verdict in news
                where verdict.status == .reachable && verdict.generation >= asked.generation {
                    return .retry
                }
                return .doNotRetry
            }
            defer { group.cancelAll() }
            return await group.next() ?? .doNotRetry
        }
    }
}
