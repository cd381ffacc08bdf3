import Glibc

/// The signals `watch` obeys, waited for instead of handled: nothing runs in a handler, and nothing is cut short.
///
/// C counterpart: `sigwait(3)`.
struct WatchSignals: ~Copyable {
    private var set = sigset_t()

    /// Blocks SIGINT, SIGTERM and SIGUSR1 in the calling thread and in every thread it starts from now on: call it first.
    ///
    /// - Parameter reloads: Whether SIGHUP is for reading files again; otherwise it ends the command, as it does others.
    init(reloads: Bool) {
        _ = unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGUSR1] + (reloads ? [SIGHUP] : []) { _ = unsafe sigaddset(&set, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the calling thread until SIGINT or SIGTERM comes, and calls `report` on it for each SIGUSR1 and `reload` for
    /// each SIGHUP until then. Of those that come while one is served, one is left.
    mutating func waitForEnd(report: () -> Void, reload: () -> Void = {}) {
        while true {
            var signal: CInt = 0
            guard unsafe sigwait(&set, &signal) == 0 else { continue }
            switch signal {
            case SIGUSR1: report()
            case SIGHUP: reload()
            default: return
            }
        }
    }
}
