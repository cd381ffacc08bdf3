import LinuxSupport
package import ReachabilityRetry

/// What notifying needs of the world: tests play it.
package struct NotifyEnvironment: Sendable {
    /// Knows whether hosts can be reached, and spreads retries.
    package var coordinator: RetryCoordinator
    /// What measures the waits of retries; the coordinator's.
    package var clock: any Clock<Duration> = QuietClock()
    /// Waits.
    package var pause: @Sendable (Duration) async throws -> Void
    /// Runs hooks.
    package var hooks: HookRunner
    /// How long an exchange with a server may take.
    package var timeLimit: Duration = .seconds(15)
    package var journalSocket = JournalSender.standardSocket

    package init(
        coordinator: RetryCoordinator,
        pause: @escaping @Sendable (Duration) async throws -> Void = { try await QuietClock().sleep(for: $0) },
        hooks: @escaping HookRunner
    ) {
        (self.coordinator, self.pause, self.hooks) = (coordinator, pause, hooks)
    }

    /// Until it is told, or something else is to be told: a minute lies between attempts at most, an hour where a server asks for
    /// that, and the network's return cuts every wait short.
    static let policy: RetryPolicy = {
        do {
            return try RetryPolicy(
                deadline: .seconds(30 * 86_400),
                attempts: .max,
                attemptsAfterSending: .max,
                attemptsUnresolved: .max,
                attemptsRefused: .max,
                backoff: Backoff(base: .seconds(1), cap: .seconds(60)),
                retryAfterCap: .seconds(3600),
                statuses: Set(300...599)
            )
        } catch {
            return .standard
        }
    }()

    /// Few wait at a time, and each of them for as long as it takes: no budget is spent.
    package static let limits: RetryLimits = {
        do { return try RetryLimits(budget: RetryBudget(retryCost: 0)) } catch { return .standard }
    }()
}
