import Glibc

/// The signals that end `wait`, waited for instead of handled.
///
/// C counterpart: `sigtimedwait(2)`.
struct WaitSignals: ~Copyable {
    private var set = sigset_t()

    /// Blocks SIGINT and SIGTERM in the calling thread and in every thread it starts from now on: make it first.
    init() {
        _ = unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM] { _ = unsafe sigaddset(&set, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the calling thread until one of them comes, and says which; nil when the time is up. Time stands still while the
    /// machine sleeps.
    ///
    /// - Parameter limit: nil for ever.
    mutating func wait(atMost limit: Duration?) -> CInt? {
        var deadline: Duration?
        if let limit { deadline = Self.monotonic + limit }
        while true {
            var rest = timespec()
            if let deadline {
                let (seconds, attoseconds) = max(.zero, deadline - Self.monotonic).components
                rest = timespec(tv_sec: Int(clamping: seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
            }
            let signal = deadline == nil ? unsafe sigwaitinfo(&set, nil) : unsafe sigtimedwait(&set, nil, &rest)
            if signal > 0 { return signal }
            if errno == EAGAIN { return nil }
        }
    }

    private static var monotonic: Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
