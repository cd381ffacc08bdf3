import Glibc

/// The signals `watch`, `run` and `retry` obey, waited for instead of handled: nothing runs in a handler, and nothing is cut short.
///
/// C counterpart: `sigwait(3)`.
struct WatchSignals: ~Copyable {
    private var set = sigset_t()
    private let reloads: Bool

    /// Blocks SIGINT, SIGTERM and SIGUSR1 in the calling thread and in every thread it starts from now on: call it first.
    ///
    /// - Parameters:
    ///   - reloads: Whether SIGHUP is for reading files again; otherwise it ends the command, as it does others.
    ///   - runsPrograms: Whether there are programs to end before the command: SIGHUP then ends it in order too, unless it is
    ///     ignored as under nohup(1).
    init(reloads: Bool, runsPrograms: Bool = false) {
        self.reloads = reloads
        let hearsHangup = reloads || runsPrograms && !Self.isIgnored(SIGHUP)
        let numbers = [SIGINT, SIGTERM, SIGUSR1] + (hearsHangup ? [SIGHUP] : [])
        _ = unsafe sigemptyset(&set)
        for number in numbers { _ = unsafe sigaddset(&set, number) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard runsPrograms else { return }
        // swift-subprocess waits for children in a thread of its own with no signal blocked. What that one gets, it passes on
        // to us, who are known before any handler asks, and have blocked it.
        _ = Self.waitingThread
        for number in numbers { _ = signal(number) { pthread_kill(WatchSignals.waitingThread, $0) } }
    }

    /// Blocks the calling thread until SIGINT or SIGTERM comes, and calls `report` on it for each SIGUSR1 and `reload` for
    /// each SIGHUP until then. Of those that come while one is served, one is left. Returns the one that came.
    @discardableResult
    mutating func waitForEnd(report: () -> Void, reload: () -> Void = {}) -> CInt {
        while true {
            var signal: CInt = 0
            guard unsafe sigwait(&set, &signal) == 0 else { continue }
            switch signal {
            case SIGUSR1: report()
            case SIGHUP where reloads: reload()
            default: return signal
            }
        }
    }

    /// The thread that first asks: the main one, which makes this value.
    private static let waitingThread = pthread_self()

    /// SIG_IGN as a number.
    private static let ignoring = 1

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // Handlers cannot be compared, numbers can.
        return unsafe withUnsafeBytes(of: action.__sigaction_handler) { unsafe $0.load(as: Int.self) } == ignoring
    }
}
