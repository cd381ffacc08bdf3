import Dispatch
import Glibc
import LinuxSupport

/// Wakes whoever sends, or waits to, in all processes: the lock's file was opened for writing and is closed, which the kernel tells.
/// So it rings when something was put in, and when the process that sends has ended, however it did.
///
/// C counterpart: `inotify(7)`, IN_CLOSE_WRITE.
struct FileBell: Sendable {
    let rings: AsyncStream<Void>
    private let watch: Cancellation

    /// - Parameter path: The lock's file, which exists; nil where the kernel has no watch to spare.
    init?(_ path: String) {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        let (rings, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let queue = DispatchQueue(label: "ReachabilityOutbox.bell")
        let watch = SharedFileWatch.shared.add(unsafe String(cString: resolved), on: queue) { continuation.yield() }
        guard let watch else { return nil }
        (self.rings, self.watch) = (rings, watch)
    }

    /// Listens no more.
    func cancel() { watch.cancel() }

    /// Rings. It does no harm where it cannot: then there is no sender who may read the file either.
    static func ring(_ path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
    }
}
