import LinuxSupport
import NIOCore
import NIOPosix

/// What the runtime opens once, the first time it is needed: Dispatch its timer, SwiftNIO its event loops. Both end the process where
/// there is no descriptor for that, so a check has it done before it begins, while it can still say no.
enum Footing {
    /// The event loops that speak with web servers: few, for each has three descriptors, and conversations mostly wait.
    static let loops = MultiThreadedEventLoopGroup(numberOfThreads: min(2, System.coreCount))

    /// For the runtime, the engine and the kernel's answers, and some sockets.
    static let descriptors = 24

    private static let isReady = Locked(false)

    /// - Throws: where there are too few descriptors to check anything.
    static func make() async throws(CheckError) {
        guard OpenFiles.haveRoom(for: descriptors) else {
            throw .sockets("\(descriptors) descriptors must be free: raise the limit of open files (ulimit -n)")
        }
        if isReady.withLock({ $0 }) { return }
        _ = loops.next()
        // What is cancelled would not get as far as the timer.
        await Task { try? await Task.sleep(for: .nanoseconds(1)) }.value
        isReady.withLock { $0 = true }
    }
}
