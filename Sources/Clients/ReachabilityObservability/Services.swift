import LinuxSupport
public import NetworkReachability
public import ReachabilityRetry
public import ServiceLifecycle

/// A part of a daemon that hears of changes of the network until the daemon shuts down, for a `ServiceGroup`.
///
/// ```swift
/// let service = NetworkReachabilityService(manager) { path in logger.info("network: \(path)") }
/// try await ServiceGroup(services: [service], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
public struct NetworkReachabilityService: Service {
    private let manager: NetworkReachabilityManager
    private let interest: NetworkReachabilityInterest
    private let policy: SettlePolicy
    private let update: @Sendable (NetworkPath) async throws -> Void

    /// - Parameters:
    ///   - manager: Whose target to follow; it is held.
    ///   - interest: What counts as a change.
    ///   - policy: Whether a change is notified at once, or only when it has lasted.
    ///   - update: Called with the path as it is at the beginning, and then with each change, one after the other: while it runs, the
    ///     latest is kept. What it throws ends the service, and with it the group.
    public init(
        _ manager: NetworkReachabilityManager,
        for interest: NetworkReachabilityInterest = .status,
        settle policy: SettlePolicy = .immediate,
        onUpdate update: @escaping @Sendable (NetworkPath) async throws -> Void
    ) {
        self.manager = manager
        self.interest = interest
        self.policy = policy
        self.update = update
    }

    /// Follows the target until the group shuts down gracefully, or the task is cancelled.
    public func run() async throws {
        for await path in manager.paths(for: interest, settle: policy).cancelOnGracefulShutdown() {
            try await update(path)
        }
    }
}

/// Ends the requests of a daemon with the daemon, for a `ServiceGroup`: those under way may come to their end, new ones are refused, and
/// what is not over in time is cancelled. It ends each request that goes by the coordinator, of sessions, clients and `withRetry`.
///
/// ```swift
/// let service = RetryCoordinatorService(coordinator, draining: .seconds(10))
/// try await ServiceGroup(services: [service, api], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
///
/// A group ends its services in the reverse of their order: put it before those that send requests.
public struct RetryCoordinatorService: Service {
    private let coordinator: RetryCoordinator
    private let limit: Duration
    private let timeline: Timeline

    /// - Parameters:
    ///   - coordinator: What is ended, for good. One of the daemon's own, and not `RetryCoordinator.shared` where others use it.
    ///   - limit: How long what is under way may go on. A negative one counts as zero.
    ///   - clock: What measures that.
    public init(
        _ coordinator: RetryCoordinator,
        draining limit: Duration = .seconds(10),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.coordinator = coordinator
        self.limit = max(limit, .zero)
        timeline = Timeline(clock)
    }

    /// Waits until the group shuts down, and returns when nothing is under way any more. Where its task is cancelled, so is what is
    /// under way.
    public func run() async throws {
        try? await gracefulShutdown()
        await withTaskGroup { [timeline, limit, coordinator] group in
            group.addTask { await coordinator.shutDown(.drain) }
            group.addTask { try? await timeline.sleep(until: timeline.now + limit) }
            await group.next()
            group.cancelAll()
        }
        await coordinator.shutDown(.cancel)
    }
}
