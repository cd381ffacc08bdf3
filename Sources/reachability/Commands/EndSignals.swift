import Glibc

/// The signals that end a command, waited for instead of handled: nothing runs in a handler, and nothing is cut short.
///
/// C counterpart: `sigwait(3)`.
struct EndSignals: ~Copyable {
    private var set = sigset_t()

    /// Blocks SIGINT and SIGTERM in the calling thread and in every thread it starts from now on: call it first.
    init() {
        _ = unsafe sigemptyset(&set)
        for signal in [SIGINT, SIGTERM] { _ = unsafe sigaddset(&set, signal) }
        _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Blocks the calling thread until one of them comes.
    mutating func wait() {
        var signal: CInt = 0
        while unsafe sigwait(&set, &signal) != 0 {}
    }
}
