import Glibc

/// The signals `watch` obeys, waited for instead of handled: nothing runs in a handler, and nothing is cut short.
///
/// C counterpart: `sigwait(3)`.
struct WatchSignals: ~Copyable {
    private var set = sigset_t()

    /// Blocks SIGINT, SIGTERM and SIGUSR1 in the calling thread and in every thread it starts from now on: call it first.
    init() {
        _ = unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGUSR1] { _ = unsafe sigaddset(&set, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the calling thread until SIGINT or SIGTERM comes, and calls `report` on it for each SIGUSR1 until then. Of those
    /// that come while one is reported, one is left.
    mutating func waitForEnd(report: () -> Void) {
        while true {
            var signal: CInt = 0
            guard unsafe sigwait(&set, &signal) == 0 else { continue }
            if signal != SIGUSR1 { return }
            report()
        }
    }
}
