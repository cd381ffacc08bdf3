import LinuxSupport

/// A retrier that waits for the network when a request fails offline. It retries if the network returns in time.
/// Alamofire has a class of this name, but not on Linux.
///
/// The monitor decides whether the machine is offline, because error codes on Linux do not contain that information. A
/// request with a response is not retried. Unlike Alamofire's class, it retries a request that may have been processed
/// only if its method is idempotent or it has an idempotency key.
public final class OfflineRetrier: RequestInterceptor {
    /// Returns whether a failure means offline, from its error and from the monitor's reachability right after it.
    public typealias OfflineCheck = @Sendable (_ error: any Error, _ reachability: HostReachability) -> Bool

    /// Returns whether the monitor reports "not reachable", whatever the error. An unresolved name does not count as
    /// offline.
    public static let defaultIsOfflineError: OfflineCheck = { _, reachability in reachability.isOffline }

    /// The default maximum wait: five seconds.
    public static let defaultWait = Duration.seconds(5)

    private let maximumWait: Duration
    private let host: String?
    private let isOfflineError: OfflineCheck
    private let reachability: any ReachabilityProvider
    private let timeline: Timeline

    /// Creates a retrier.
    ///
    /// - Parameters:
    ///   - host: The host whose reachability is awaited; nil for the network at large.
    ///   - maximumWait: The maximum wait for the network.
    ///   - reachability: The source of reachability. The default is the kernel.
    ///   - clock: Measures the wait.
    ///   - isOfflineError: Returns whether a failure means offline. If false, the next retrier decides.
    /// - Throws: ``RetryPolicyError`` if the wait is negative.
    public init(
        host: String? = nil,
        maximumWait: Duration = defaultWait,
        reachability: any ReachabilityProvider = NetlinkReachabilityProvider(),
        clock: some Clock<Duration> = ContinuousClock(),
        isOfflineError: @escaping OfflineCheck = defaultIsOfflineError
    ) throws(RetryPolicyError) {
        try RetryPolicyError.check(maximumWait, "the maximum wait for the network")
        self.host = host
        self.maximumWait = maximumWait
        self.reachability = reachability
        self.isOfflineError = isOfflineError
        timeline = Timeline(clock)
    }

    /// Retries when the network returns within the maximum wait. Otherwise the next retrier decides.
    public func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let isRepeatable = request.request.method.isIdempotent || request.hasIdempotencyKey
        let stage = request.stage ?? .mayHaveBeenProcessed
        guard stage.isOfNetwork, stage.maySendAgain(isRepeatable: isRepeatable) else { return .doNotRetry }
        let (news, listener) = AsyncStream.makeStream(of: HostReachability.self, bufferingPolicy: .bufferingNewest(1))
        let watch = reachability.watch(host) { listener.yield($0) }
        defer { withExtendedLifetime(watch) {} }
        let asked = watch.currentReachability()
        guard isOfflineError(error, asked) else { return .doNotRetry }
        let end = timeline.now + maximumWait
        return await withTaskGroup(of: RetryResult.self) { group in
            group.addTask { [timeline] in
                try? await timeline.sleep(until: end)
                return .doNotRetry
            }
            group.addTask {
                for await reachability in news
                where reachability.status == .reachable && reachability.generation >= asked.generation {
                    return .retry
                }
                return .doNotRetry
            }
            defer { group.cancelAll() }
            return await group.next() ?? .doNotRetry
        }
    }
}
