import Dispatch
package import LinuxSupport
import Netlink

/// The file of a recording. Data is written at once by a queue. The caller waits for the disk only if 4 MiB are not written yet.
package final class RecordingFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isPlanned = false
        var written = 0
        var failure: SystemError?
    }

    private let file: OutputFile
    private let state: Locked<State> = Locked(State())
    /// Separate from the monitor's queue, because a disk may be slow.
    private let queue = DispatchQueue(label: "reachability.recording")
    private let failed: @Sendable () -> Void
    /// The maximum number of bytes in memory.
    private static let waitingLimit = 4 << 20

    /// - Parameters:
    ///   - replacing: Whether an existing file is emptied first.
    ///   - failed: Called once if data cannot be written. No data is written after that.
    package init(
        _ path: String,
        replacing: Bool,
        failed: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        file = try OutputFile(path, replacing: replacing)
        self.failed = failed
    }

    /// Writes bytes after all bytes of earlier calls.
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

    /// Waits until all bytes are on the disk.
    ///
    /// - Throws: The error of the first write that failed.
    package func finish() throws(SystemError) {
        queue.sync { flush() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        try file.sync()
    }

    /// The number of bytes written so far.
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
