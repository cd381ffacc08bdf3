import Glibc
import LinuxSupport

/// The signals that a command obeys, waited for instead of handled: no code runs in a handler, and nothing is cut short.
///
/// C counterpart: `sigwaitinfo(2)`, `sigtimedwait(2)`.
struct Signals: ~Copyable {
    private var set = sigset_t()
    private let reloads: Bool

    /// Blocks signals in the calling thread and in every thread that it starts later: call it first.
    init(_ numbers: [CInt], reloads: Bool = false) {
        self.reloads = reloads
        _ = unsafe sigemptyset(&set)
        for number in numbers { _ = unsafe sigaddset(&set, number) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// SIGINT, SIGTERM and SIGUSR1, for ``waitForEnd(report:reload:)``.
    ///
    /// - Parameters:
    ///   - reloads: Whether SIGHUP is for reading files again; otherwise it ends the command, as it does others.
    ///   - runsPrograms: Whether there are programs to end before the command: SIGHUP then ends it in order too, unless it is
    ///     ignored as under nohup(1).
    init(reloads: Bool, runsPrograms: Bool = false) {
        let hearsHangup = reloads || runsPrograms && !Self.isIgnored(SIGHUP)
        let numbers = [SIGINT, SIGTERM, SIGUSR1] + (hearsHangup ? [SIGHUP] : [])
        self.init(numbers, reloads: reloads)
        guard runsPrograms else { return }
        // swift-subprocess waits for children in a thread of its own with no signal blocked. That thread passes signals on to
        // this one, which is known before any handler runs, and has blocked them.
        _ = Self.waitingThread
        for number in numbers { _ = signal(number) { pthread_kill(Signals.waitingThread, $0) } }
    }

    /// Blocks the calling thread until SIGINT or SIGTERM comes, and calls `report` on it for each SIGUSR1 and `reload` for
    /// each SIGHUP until then. Of several signals during a call, one is served. Returns the signal that ended the wait.
    @discardableResult
    mutating func waitForEnd(report: () -> Void, reload: () -> Void = {}) -> CInt {
        while true {
            switch next() {
            case nil: continue
            case SIGUSR1?: report()
            case SIGHUP? where reloads: reload()
            case let signal?: return signal
            }
        }
    }

    /// Blocks the calling thread until one of the signals comes, and returns it; nil if the time is up. Time does not pass while
    /// the machine sleeps.
    ///
    /// - Parameter limit: Nil to wait without a limit.
    mutating func next(within limit: Duration? = nil) -> CInt? {
        let deadline = limit.map { SystemClock.monotonic + $0 }
        while true {
            let signal: CInt
            if let deadline {
                let (seconds, attoseconds) = max(.zero, deadline - SystemClock.monotonic).components
                var rest = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
                signal = unsafe sigtimedwait(&set, nil, &rest)
            } else {
                signal = unsafe sigwaitinfo(&set, nil)
            }
            if signal > 0 { return signal }
            if errno == EAGAIN { return nil }
        }
    }

    /// The thread that first reads it: the main one, which makes this value.
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
