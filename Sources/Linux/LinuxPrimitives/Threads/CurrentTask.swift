/// The task that the calling function runs in.
package enum CurrentTask {
    /// Whether there is one: then the thread belongs to all tasks, and nothing may wait on it for long.
    package static var exists: Bool { withUnsafeCurrentTask { $0 != nil } }
}
