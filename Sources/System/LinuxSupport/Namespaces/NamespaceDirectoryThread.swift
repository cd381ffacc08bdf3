package import Dispatch

/// A thread that waits for changes of a directory of namespaces. Dispatch cannot wait for the mount table: it is always
/// readable, and what is urgent about a change is gone once somebody has asked.
package final class NamespaceDirectoryThread: Sendable {
    private let watch: NamespaceDirectoryWatch
    private let hasEnded = Locked(false)

    package init(_ directory: String) throws(SystemError) {
        watch = try NamespaceDirectoryWatch(directory: directory)
    }

    /// Runs `changed` on `queue` for each change, until `end()`, or until it cannot wait any more, which it tells as a change.
    package func start(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) throws(SystemError) {
        try Thread.detach { [self] in
            while !hasEnded.withLock({ $0 }) {
                let concernsMounts = try? watch.wait()
                queue.sync { [self] in
                    if hasEnded.withLock({ $0 }) { return }
                    if concernsMounts == nil { hasEnded.withLock { $0 = true } }
                    let concernsNames = watch.drain()
                    if concernsMounts ?? true || concernsNames { changed() }
                }
            }
        }
    }

    /// Watches what is there now, on the queue; false when the kernel refuses, or the thread has ended.
    package func renew() -> Bool { !hasEnded.withLock { $0 } && watch.renew() }

    /// Ends the thread soon, without waiting for it.
    package func end() {
        hasEnded.withLock { $0 = true }
        watch.interrupt()
    }
}
