#if Fleet
import CMosquitto
import Glibc
import LinuxSupport

/// Gives each address of a broker its time. Libmosquitto tries the addresses one after the other, and waits for each as long as the kernel
/// does, two minutes. A signal ends the `connect(2)` under way with EINTR, and the library goes on with the next address.
enum AddressTimer {
    /// The longest time for an address, if there is another one.
    private static let longest = Duration.seconds(3)
    private static let tick = Duration.milliseconds(100)

    /// Ignored by default, and used by nothing else here.
    private static let signal = SIGURG

    private static let handler: Void = {
        // Without SA_RESTART, for calls are to end.
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(signal, &action, nil)
    }()

    /// Runs `connect`, which calls `connect(2)` on the calling thread for one address after the other.
    ///
    /// - Parameters:
    ///   - patience: How long all addresses together may take.
    ///   - count: Returns the number of addresses. It may block; it is called on another thread.
    static func during<Value>(
        _ patience: Duration,
        count: @escaping @Sendable () -> Int,
        _ connect: () -> Value
    ) -> Value {
        guard let place = currentThread else { return connect() }
        _ = handler
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        defer { pthread_sigmask(SIG_BLOCK, &set, nil) }
        let thread = pthread_self()
        let isOver = Locked(false)
        let end = Latch()
        try? Thread.detach {
            let addresses = count()
            // The last one has all the time that is left.
            var left = addresses - 1
            let limit = min(longest, patience / max(1, addresses))
            var time = Duration.zero
            while left > 0, !end.wait(atMost: tick) {
                time = isConnecting(place) ? time + tick : .zero
                guard time >= limit else { continue }
                // The thread lives as long as it is not over.
                isOver.withLock { isOver in
                    if !isOver { _ = pthread_kill(thread, signal) }
                }
                (time, left) = (.zero, left - 1)
            }
        }
        let value = connect()
        isOver.withLock { $0 = true }
        end.open()
        return value
    }

    /// The directory of the calling thread; nil where `/proc` is not mounted.
    private static var currentThread: String? {
        var bytes = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/thread-self", &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return "/proc/" + String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether the thread waits in `connect(2)`, and not for the name service.
    private static func isConnecting(_ thread: String) -> Bool {
        TextFile.read(thread + "/syscall")?.hasPrefix("\(cmosquitto_connect_number) ") ?? false
    }
}
#endif
