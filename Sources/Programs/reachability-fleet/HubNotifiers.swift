#if Fleet
import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityFleetHub
import ReachabilityService
import ReachabilityRetry

/// Creates the notifier of a hub.
enum HubNotifiers {
    /// Creates a notifier and begins. Call it before the first message of a machine.
    static func begin(
        _ keeper: HubKeeper,
        _ store: any HubStore,
        _ configuration: ServiceConfiguration
    ) throws(ConfigurationProblems) -> Notifier {
        // An inherited SIG_IGN would discard the exit status of hooks.
        signal(SIGCHLD, SIG_DFL)
        let host = TextFile.read("/proc/sys/kernel/hostname")?.filter { !$0.isWhitespace } ?? ""
        let environment = NotifyEnvironment(
            coordinator: RetryCoordinator(limits: NotifyEnvironment.limits, clock: QuietClock()),
            hooks: NotifyHooks().run
        )
        let notifier = Notifier(
            keeper,
            store: store,
            writer: FleetNotificationWriter(host: host),
            environment: environment,
            logger: .standardError
        )
        let use = try notifier.prepare(configuration)
        notifier.begin()
        use()
        return notifier
    }
}
#endif
