import Dispatch

/// Judges one server away from the threads of Swift's tasks, of which there are as few as processors: what a stranger sends may take its
/// time, and evaluators of users may block. For one task alone, so nobody waits for another's.
///
/// Source: SE-0417.
package final class JudgingExecutor: TaskExecutor {
    // A serial queue has a thread of its own while it has work.
    private let queue = DispatchQueue(label: "ServerTrust.judging")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
