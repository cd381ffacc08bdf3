import Dispatch
package import LinuxPrimitives
import Netlink

/// The file of a recording. What is written is on its way to the disk at once, but whoever writes does not wait for the disk
/// unless it has fallen far behind.
package final class RecordingFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isPlanned = false
        var written = 0
        var failure: SystemError?
    }

    private let file: OutputFile
    private let state: Locked<State> = Locked(State())
    /// A thread of its own while it writes, for a disk may be slow.
    private let queue = DispatchQueue(label: "reachability.recording")
    private let failed: @Sendable () -> Void
    /// More than that is not kept in memory.
    private static let waitingLimit = 4 << 20

    /// - Parameters:
    ///   - replacing: Whether a file that is there is emptied first.
    ///   - failed: called once when something cannot be written; nothing is written after that.
    package init(
        _ path: String,
        replacing: Bool,
        failed: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        file = try OutputFile(path, replacing: replacing)
        self.failed = failed
    }

    /// Writes soon, after everything that was to be written before.
    package func write(_ bytes: [UInt8]) {
        let (plans, isBehind) = state.withLock { state in
            if state.failure != nil { return (false, false) }
            state.waiting += bytes
            defer { state.isPlanned = true }
            return (!state.isPlanned, state.waiting.count > Self.waitingLimit)
        }
        if plans { queue.async { [self] in flush() } }
        if isBehind { queue.sync { flush() } }
    }

    /// Waits until all of it is on the disk.
    ///
    /// - Throws: What the system said when something could not be written.
    package func finish() throws(SystemError) {
        queue.sync { flush() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        try file.sync()
    }

    /// How many bytes were written so far.
    package var size: Int { state.withLock { $0.written } }

    private func flush() {
        let bytes = state.withLock { state in
            state.isPlanned = false
            defer { state.waiting = [] }
            return state.waiting
        }
        if bytes.isEmpty { return }
        do throws(SystemError) {
            try file.append(bytes)
            state.withLock { $0.written += bytes.count }
        } catch {
            let isFirst = state.withLock { state in
                defer { state.failure = state.failure ?? error }
                return state.failure == nil
            }
            if isFirst { failed() }
        }
    }
}
