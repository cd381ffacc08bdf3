import LinuxSupport

/// Runs what `exec` names: a program, or the executables of a directory.
package typealias HookRunner =
    @Sendable (_ path: String, _ limit: Duration, _ notifier: String, _ variables: [(name: String, value: String)])
    async -> String?

/// Tells by running programs, each once for each notification: who wants it told again asks for that.
struct HookSender: NotificationSender {
    let name: String
    let path: String
    /// For each program.
    let limit: Duration
    let writer: any NotificationWriting
    /// Runs them one after the other by the rules of `run --hooks`, and returns what went wrong, if anything did.
    let run: HookRunner

    func send(_ notifications: [Notification]) async throws(DeliveryFailure) {
        for notification in notifications {
            let variables = writer.fields(notification, for: name).map { name, value in
                // No variable can have a zero in it.
                ("REACHABILITY_" + name, value.utf8.contains(0) ? value.printable : value)
            }
            if let problem = await run(path, limit, name, variables) { throw DeliveryFailure(problem, nil) }
        }
    }
}
