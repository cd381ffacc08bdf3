import CommandLineSupport
import LinuxSupport
import NetworkReachability
import ReachabilityServer
import ReachabilityService

/// Where the history lies.
enum HistoryPlace {
    /// The file; nil where nothing is to be kept.
    ///
    /// - Parameter named: What `--history` says. Otherwise it is `history.sqlite` in ``StateDirectory``.
    static func file(_ named: String?) throws(ExitMessage) -> String? {
        if let named { return named == ListeningPlaces.none ? nil : named }
        guard let directory = StateDirectory.make() else {
            throw ExitMessage(
                "there is no home directory for the history: name its file with --history, or none",
                .usage
            )
        }
        return directory + "/history.sqlite"
    }

    /// Writes down that a service which was killed ended now, to be called when it has.
    ///
    /// Since when one hung that the service manager has killed for that, nobody knows, so it is left as it is: `SERVICE_RESULT` of
    /// `systemd.exec(5)`.
    static func markStopped(_ file: String?) throws(ExitMessage) {
        guard let file else { throw ExitMessage("there is no history to mark", .usage) }
        if EnvironmentVariable.value(of: "SERVICE_RESULT") == "watchdog" { return }
        let clock = ServiceClock.system
        do {
            let store = try HistoryStore(file)
            defer { store.close() }
            // Without a run in this boot there is nothing to end.
            guard let line = try store.resume(bootIdentifier: clock.bootIdentifier).line else { return }
            // The service manager has made this process when the service had ended; since then time has passed.
            let boot = clock.monitor.boot
            try store.markLastRun(at: line.instant(at: min(boot, ProcessStart.boot ?? boot)))
        } catch let fault as HistoryFault {
            throw ExitMessage(fault.text, fault.kind == .locked ? .temporaryFailure : .ioError)
        } catch {
            throw ExitMessage("the history \(file.printable) cannot be used: \(error)", .ioError)
        }
    }
}
