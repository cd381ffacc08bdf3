import Glibc

/// The signals `watch` and `run` obey, waited for instead of handled: nothing runs in a handler, and nothing is cut short.
///
/// C counterpart: `sigwait(3)`.
struct WatchSignals: ~Copyable {
    private var set = sigset_t()
    private let reloads: Bool

    /// Blocks SIGINT, SIGTERM and SIGUSR1 in the calling thread and in every thread it starts from now on: call it first.
    ///
    /// - Parameters:
    ///   - reloads: Whether SIGHUP is for reading files again; otherwise it ends the command, as it does others.
    ///   - endsOnHangup: Whether SIGHUP, unless it is ignored as under nohup(1), is waited for to end the command in order.
    init(reloads: Bool, endsOnHangup: Bool = false) {
        self.reloads = reloads
        let hearsHangup = reloads || endsOnHangup && !Self.isIgnored(SIGHUP)
        _ = unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM, SIGUSR1] + (hearsHangup ? [SIGHUP] : []) { _ = unsafe sigaddset(&set, signal) }
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
            case SIGHUP where reloads: reload()
            default: return
            }
        }
    }

    /// SIG_IGN as a number.
    private static let ignoring = 1

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // Handlers cannot be compared, numbers can.
        return unsafe withUnsafeBytes(of: action.__sigaction_handler) { unsafe $0.load(as: Int.self) } == ignoring
    }
}
