import LinuxSupport
public import NetworkReachability
public import ReachabilityRetry
public import ServiceLifecycle

/// A service that reports changes of the network until the daemon shuts down, for a `ServiceGroup`.
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

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - manager: The manager whose target is followed. The service retains it.
    ///   - interest: The changes to report.
    ///   - policy: The delay of reports: none, or only changes that have lasted for some time.
    ///   - update: Called with the current path, and then with each change. The calls are sequential. During a call,
    ///     only the latest change is kept. An error that it throws ends the service, and with it the group.
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

/// A service that ends the requests of a daemon when the daemon shuts down, for a `ServiceGroup`. Requests in progress
/// may finish within a time limit, new requests are refused, and the remaining ones are then cancelled. It applies to
/// all requests that use the coordinator: those of sessions and clients, and of `withRetry`.
///
/// ```swift
/// let service = RetryCoordinatorService(coordinator, draining: .seconds(10))
/// try await ServiceGroup(services: [service, api], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
///
/// A group shuts its services down in reverse order, so put this service before those that send requests.
public struct RetryCoordinatorService: Service {
    private let coordinator: RetryCoordinator
    private let limit: Duration
    private let timeline: Timeline

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - coordinator: The coordinator, which is shut down permanently. Use a separate one, and not
    ///     `RetryCoordinator.shared` if other code uses that.
    ///   - limit: The maximum time that requests in progress may continue. A negative value counts as zero.
    ///   - clock: The clock that measures the limit.
    public init(
        _ coordinator: RetryCoordinator,
        draining limit: Duration = .seconds(10),
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.coordinator = coordinator
        self.limit = max(limit, .zero)
        timeline = Timeline(clock)
    }

    /// Waits until the group shuts down. Returns when no request is in progress. If the task is cancelled, the requests
    /// in progress are cancelled too.
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
