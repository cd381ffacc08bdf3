import Glibc

/// What is left of a process group whose leader has ended.
struct ProcessGroup: Sendable {
    private let identifier: pid_t

    init(_ identifier: pid_t) {
        self.identifier = identifier
    }

    /// Tells who is left to end, waits until nobody is, and kills who still is after `limit`; also in a task that is
    /// cancelled.
    ///
    /// The kernel gives the number to nobody else while the group has a member, and goes through all others first.
    func finish(within limit: Duration) async {
        // A task of its own, for one that is cancelled cannot wait.
        await Task {
            kill(-identifier, SIGTERM)
            if await isGone(within: limit) { return }
            kill(-identifier, SIGKILL)
            // It takes a moment; what the kernel holds, nobody can end.
            _ = await isGone(within: .seconds(1))
        }.value
    }

    private func isGone(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        while kill(-identifier, 0) == 0 {
            if ContinuousClock.now >= deadline { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }
}
