public import NetworkReachability
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
