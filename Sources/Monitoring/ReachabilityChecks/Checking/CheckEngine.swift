import LinuxSupport
import NetworkReachability

/// How old results about the uplink may be, for a target that does not answer.
package enum CheckFreshness: Sendable {
    /// The target has just stopped to answer, so older results may be wrong.
    case fresh
    /// The target did not answer before, so the results of the last half minute are used.
    case lasting
}

/// Checks targets again and again, each when the caller asks for it. All targets share a thread for sockets, the kernel's state, and the
/// results about the uplink. Sends nothing before the first check. Thread-safe.
///
/// The uplink is probed only for a target that does not answer, and for the internet itself, by one round for all that wait.
package final class CheckEngine: Sendable {
    private typealias Waiter = CheckedContinuation<Result<CheckReport?, CheckError>, Never>

    private let contexts: CheckContexts
    private let mailbox = Mailbox<CheckQueue.Message>()
    private let waiters = Locked<[Int: Waiter]>([:])
    private let last = Locked(0)

    /// Whether this process may send ICMP echoes in its network namespace.
    package static var mayEcho: Bool { EchoPermission.isGranted }

    /// - Parameter options: How checks are made, and which hosts they may contact.
    package init(_ options: CheckOptions) {
        contexts = CheckContexts(options)
        Task { [contexts, mailbox, waiters] in
            var queue = CheckQueue(contexts, mailbox) { number, report in
                waiters.withLock { $0.removeValue(forKey: number) }?.resume(returning: report.map(Optional.some))
            }
            await queue.run()
        }
    }

    deinit {
        mailbox.post(.close)
        contexts.end()
    }

    /// Checks a target.
    ///
    /// Cancelling the task stops the probes to this target. A round about the uplink continues for other targets.
    ///
    /// - Parameter target: The target; nil for the internet.
    /// - Returns: Nil if the task is cancelled.
    /// - Throws: An error if nothing can be checked.
    package func check(_ target: CheckTarget?, _ freshness: CheckFreshness) async throws(CheckError) -> CheckReport? {
        try await RuntimeWarmUp.run()
        let number = last.withLock { last in
            last += 1
            return last
        }
        let report = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                waiters.withLock { $0[number] = waiter }
                mailbox.post(.check(CheckQueue.Job(number: number, target: target, freshness: freshness)))
                // The handler may have run before there was a waiter.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return try report.get()
    }

    private func cancel(_ number: Int) {
        mailbox.post(.cancel(number))
        waiters.withLock { $0.removeValue(forKey: number) }?.resume(returning: .success(nil))
    }

    /// Discards what was found, because the network has changed. Destroys nothing itself, so it may be called under a lock.
    package func forget() { contexts.forget() }
}
