import LinuxSupport

/// Lets work go on for a while after its task was cancelled.
enum Drain {
    /// Runs `work` in a task that is cancelled so long after the current one. Returns when it has ended; nothing is left
    /// behind.
    static func run<Value: Sendable>(
        for limit: Duration,
        clock: any Clock<Duration>,
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value {
        // Children of the current task would be cancelled with it at once.
        let working = Task { await work() }
        let timer: Locked<Task<Void, Never>?> = Locked(nil)
        let value = await withTaskCancellationHandler {
            await working.value
        } onCancel: {
            let task = Task {
                await clock.pause(limit)
                working.cancel()
            }
            timer.withLock { $0 = task }
        }
        if let timer = timer.withLock({ $0 }) {
            timer.cancel()
            await timer.value
        }
        return value
    }
}

extension Clock<Duration> {
    /// Waits so long, up to a tenth longer where that saves a wake-up, or until the task is cancelled.
    func pause(_ duration: Duration) async {
        try? await sleep(for: duration, tolerance: duration / 10)
    }
}
