/// Waits for one host's network.
struct HostWatch: Sendable {
    let changes: OutboxReachability.Changes
    let clock: any OutboxClock

    /// Whether the host can be reached now.
    func isReachable() async -> Bool {
        for await isReachable in changes { return isReachable }
        return true
    }

    /// Waits until the host can be reached; says whether it is worth trying, which it is not in a task that was cancelled.
    func untilReachable() async -> Bool {
        for await isReachable in changes where isReachable { break }
        return !Task.isCancelled
    }

    /// Waits so long, or until the host was away and is back: then all is new, and waiting longer helps nobody.
    func pause(_ duration: Duration) async {
        let (changes, clock) = (changes, clock)
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await clock.sleep(for: duration)
                return true
            }
            group.addTask {
                var wasAway = false
                for await isReachable in changes {
                    if isReachable, wasAway { return true }
                    if !isReachable { wasAway = true }
                }
                return false
            }
            for await isOver in group where isOver { break }
            group.cancelAll()
        }
    }
}
