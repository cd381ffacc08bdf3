/// How it goes with one notifier.
package struct NotifierStatus: Hashable, Sendable {
    package let name: String
    /// webhook, exec, alertmanager, journal or heartbeat.
    package let way: String
    /// What is due and was not told yet.
    package var pending = 0
    /// What was taken.
    package var delivered: UInt64 = 0
    /// Attempts that failed, and are made again.
    package var postponed: UInt64 = 0
    /// What was given up: the other side will never take it.
    package var refused: UInt64 = 0
    /// What the last attempt came to, where it failed; nil where it did not. Without addresses and secrets.
    package var failure: String?
    /// When that was, since 1970.
    package var failureTime: Duration?

    package init(name: String, way: String) {
        (self.name, self.way) = (name, way)
    }
}

extension NotifierSettings.Way {
    /// The key of the configuration.
    package var name: String {
        switch self {
        case .webhook: "webhook"
        case .exec: "exec"
        case .alertmanager: "alertmanager"
        case .journal: "journal"
        }
    }
}
