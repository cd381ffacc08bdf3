import LinuxSupport
import NIOHTTP1
import ReachabilityRetry

/// Asks for an address again and again, so that somebody notices when it is asked for no more: Healthchecks, for example.
///
/// Without a path nothing can leave, and none is waited for by asking: the one that is missed is sent when the path is back.
struct Heartbeat: Sendable {
    let settings: HeartbeatSettings
    let web: WebSender
    let environment: NotifyEnvironment
    /// Told how each attempt ended; nil for one that was taken.
    let report: @Sendable (DeliveryFailure?) -> Void

    /// Until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let start = ContinuousClock.now
            await beat()
            let rest = settings.interval - (ContinuousClock.now - start)
            try? await environment.pause(max(rest, .seconds(1)))
        }
    }

    /// One, and its retries.
    private func beat() async {
        guard let target = try? RetryTarget(host: web.host, isRepeatable: true) else { return }
        _ = try? await withRetry(
            policy: NotifyEnvironment.policy,
            target: target,
            coordinator: environment.coordinator,
            clock: environment.clock
        ) { _ in
            do throws(DeliveryFailure) {
                try await web.send(.GET)
                report(nil)
            } catch {
                if !Task.isCancelled { report(error) }
                throw error
            }
        }
    }
}
