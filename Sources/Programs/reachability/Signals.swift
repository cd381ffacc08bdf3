import Glibc
import LinuxSupport

/// The signals of a command. They are blocked and waited for, so that no code runs in a signal handler and no system call is interrupted.
///
/// C counterpart: `sigwaitinfo(2)`, `sigtimedwait(2)`.
struct Signals: ~Copyable {
    private var set = sigset_t()
    private let reloads: Bool

    /// Blocks the signals in the calling thread and in the threads that it starts later. Must be called before other threads are started.
    init(_ numbers: [CInt], reloads: Bool = false) {
        self.reloads = reloads
        _ = unsafe sigemptyset(&set)
        for number in numbers { _ = unsafe sigaddset(&set, number) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks SIGINT, SIGTERM and SIGUSR1, for ``waitForEnd(report:reload:)``.
    ///
    /// - Parameters:
    ///   - reloads: Whether SIGHUP makes the command read its files again. Otherwise SIGHUP ends the command.
    ///   - runsPrograms: True if the command runs programs and must end them first. SIGHUP is then also received, unless it is ignored as
    ///     under nohup(1).
    init(reloads: Bool, runsPrograms: Bool = false) {
        let hearsHangup = reloads || runsPrograms && !Self.isIgnored(SIGHUP)
        let numbers = [SIGINT, SIGTERM, SIGUSR1] + (hearsHangup ? [SIGHUP] : [])
        self.init(numbers, reloads: reloads)
        guard runsPrograms else { return }
        // swift-subprocess waits for children in its own thread, in which no signal is blocked. The handler there forwards a signal to
        // this thread, where it is blocked. The thread is determined before any handler runs.
        _ = Self.waitingThread
        for number in numbers { _ = signal(number) { pthread_kill(Signals.waitingThread, $0) } }
    }

    /// Blocks the calling thread until SIGINT or SIGTERM arrives. Calls `report` for SIGUSR1 and `reload` for SIGHUP on this thread.
    /// Several equal signals during a call count as one. Returns the signal that ended the wait.
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

    /// Blocks the calling thread until a signal arrives, and returns the signal. Returns nil at the time limit. The time of a suspended
    /// machine does not count.
    ///
    /// - Parameter limit: The time limit; nil for none.
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

    /// The main thread, which makes the first access.
    private static let waitingThread = pthread_self()

    /// The numeric value of SIG_IGN.
    private static let ignoring = 1

    private static func isIgnored(_ signal: CInt) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        // Swift cannot compare function pointers.
        return unsafe withUnsafeBytes(of: action.__sigaction_handler) { unsafe $0.load(as: Int.self) } == ignoring
    }
}
