import LinuxSupport
public import ReachabilityRetry
public import ServiceLifecycle

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
