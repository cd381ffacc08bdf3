#if Fleet
import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityFleetHub
import ReachabilityService
import ReachabilityRetry

/// What tells people and machines of the incidents of a fleet.
enum HubNotifiers {
    /// Begins to tell. To be called before anything is heard of machines.
    ///
    /// - Throws: What of the configuration cannot be used.
    static func begin(
        _ keeper: HubKeeper,
        _ store: any HubStore,
        _ configuration: ServiceConfiguration,
        _ say: @escaping @Sendable (String) -> Void
    ) throws(ConfigurationProblems) -> FleetNotifying {
        // What hooks are waited for must not be taken away by an inherited "ignore".
        signal(SIGCHLD, SIG_DFL)
        let host = TextFile.read("/proc/sys/kernel/hostname")?.filter { !$0.isWhitespace } ?? ""
        let environment = NotifyEnvironment(
            coordinator: RetryCoordinator(limits: NotifyEnvironment.limits, clock: QuietClock()),
            hooks: NotifyHooks().run
        )
        let notifying = FleetNotifying(
            keeper,
            store: store,
            writer: FleetNotificationWriter(host: host),
            environment: environment,
            report: say
        )
        let use = try notifying.prepare(configuration)
        notifying.begin()
        use()
        return notifying
    }
}
#endif
