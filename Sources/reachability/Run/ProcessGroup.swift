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
            let deadline = ContinuousClock.now + limit
            kill(-identifier, SIGTERM)
            while kill(-identifier, 0) == 0 {
                if ContinuousClock.now >= deadline {
                    kill(-identifier, SIGKILL)
                    return
                }
                try? await Task.sleep(for: .milliseconds(20))
            }
        }.value
    }
}
