package import Glibc

/// The processes of a program: its group, also when the leader has ended.
package struct ProcessGroup: Sendable {
    private let identifier: pid_t

    package init(_ identifier: pid_t) {
        self.identifier = identifier
    }

    /// Tells all to end, waits until nobody is left, and kills who still is after `limit`. For a task that is not cancelled:
    /// one that is cannot wait.
    ///
    /// The kernel gives the number to nobody else while the group has a member, and goes through all others first.
    package func finish(by signal: CInt, within limit: Duration) async {
        kill(-identifier, signal)
        // Who is stopped hears nothing.
        kill(-identifier, SIGCONT)
        if await isGone(within: limit) { return }
        kill(-identifier, SIGKILL)
        // It takes a moment; what the kernel holds, nobody can end.
        _ = await isGone(within: .seconds(1))
    }

    /// Whether nobody is left who could do anything. A zombie is a member to `kill(2)`, for as long as its parent does not wait for it:
    /// the first process of a container may never do so.
    private func isGone(within limit: Duration) async -> Bool {
        let deadline = ContinuousClock.now + limit
        let canTellZombies = ProcessTable.isOurs
        var member: pid_t?
        while kill(-identifier, 0) == 0 {
            if canTellZombies, !(member.map { ProcessTable.lives($0, in: identifier) } ?? false) {
                member = ProcessTable.livingMember(of: identifier)
                if member == nil {
                    // Who was born while we looked.
                    kill(-identifier, SIGKILL)
                    return true
                }
            }
            if ContinuousClock.now >= deadline { return false }
            try? await Task.sleep(for: .milliseconds(20))
        }
        return true
    }
}
