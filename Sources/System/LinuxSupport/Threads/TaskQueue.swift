import Dispatch

/// Runs what tasks do one after the other, on a thread that is there only while there is something to do.
///
/// Tasks without a preference run on the global queues of Dispatch. From the first of them on, a timer of Dispatch's wakes the process
/// every second, as long as it lives, to see whether these queues have enough threads. A queue like this one has no such timer, so a
/// process whose tasks all run on such queues sleeps while nothing happens.
///
/// Child tasks inherit the preference; `Task { }` does not: `Task(executorPreference:)`. A task must not block until another one of the
/// same queue has gone on.
///
/// Source: SE-0417; `_dispatch_workq_monitor_pools` in libdispatch's `src/event/workqueue.c`.
package final class TaskQueue: TaskExecutor {
    private let queue: DispatchQueue

    /// - Parameter label: What its thread is called while it works.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
