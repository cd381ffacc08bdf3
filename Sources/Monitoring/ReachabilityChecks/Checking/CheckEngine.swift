import LinuxSupport
import NetworkReachability

/// The maximum age of results about the uplink for a target that does not answer.
package enum CheckFreshness: Sendable {
    /// The target has just stopped answering, so older results may be wrong.
    case fresh
    /// The target did not answer before, so results of the last 30 s are used.
    case lasting
}

/// Checks targets repeatedly, each at the request of the caller. All targets share a socket thread, the kernel's state and the results
/// about the uplink. No packet is sent before the first check. Thread-safe.
///
/// The uplink is probed only for a target that does not answer, and for the internet itself. One round serves all waiting targets.
package final class CheckEngine: Sendable {
    private typealias Waiter = CheckedContinuation<Result<CheckReport?, CheckError>, Never>

    let contexts: CheckContexts
    private let messages = MessageQueue<CheckQueue.Message>()
    private let waiters = Locked<[Int: Waiter]>([:])
    private let last = Locked(0)

    /// A Boolean value that indicates whether this process may send ICMP echoes in its network namespace.
    package static var mayEcho: Bool { EchoPermission.isGranted }

    /// - Parameter options: The options of the checks, including the hosts that may be contacted.
    package init(_ options: CheckOptions) {
        contexts = CheckContexts(options)
        Task { [contexts, messages, waiters] in
            var queue = CheckQueue(contexts, messages) { number, report in
                waiters.withLock { $0.removeValue(forKey: number) }?.resume(returning: report.map(Optional.some))
            }
            await queue.run()
        }
    }

    deinit {
        messages.post(.close)
        contexts.end()
    }

    /// Checks a target.
    ///
    /// Cancelling the task stops the probes to this target. A shared probe of the uplink continues for other targets.
    ///
    /// - Parameter target: The target; nil for the internet.
    /// - Returns: The report; nil if the task is cancelled.
    /// - Throws: ``CheckError`` if no probe can be sent.
    package func check(_ target: CheckTarget?, _ freshness: CheckFreshness) async throws(CheckError) -> CheckReport? {
        try await RuntimeWarmUp.run()
        let number = last.withLock { last in
            last += 1
            return last
        }
        let report = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                waiters.withLock { $0[number] = waiter }
                messages.post(.check(CheckQueue.Job(number: number, target: target, freshness: freshness)))
                // The cancellation handler may have run before the continuation was stored.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
        return try report.get()
    }

    private func cancel(_ number: Int) {
        messages.post(.cancel(number))
        waiters.withLock { $0.removeValue(forKey: number) }?.resume(returning: .success(nil))
    }

    /// Discards all results because the network has changed. Releases no object, so it may be called under a lock.
    package func forget() { contexts.forget() }
}
