import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityRequests

/// Tells that a download starts over; and on a terminal, how far it is.
struct ProgressDisplay: Sendable {
    private static let isTerminal = isatty(STDERR_FILENO) == 1
    private let task: Task<Void, Never>

    init(_ progress: AsyncStream<DownloadProgress>) {
        task = Task {
            var (line, restarts) = (ProgressLine(), 0)
            let begun = ContinuousClock.now
            for await step in progress {
                if step.restarts > restarts, let reason = step.restartReason {
                    restarts = step.restarts
                    Self.show("")
                    StandardError.write("reachability: starts over: \(reason)")
                }
                guard Self.isTerminal else { continue }
                Self.show(line.text(step, at: begun.duration(to: .now)))
                // The newest is kept meanwhile; more often nobody can read.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Shows nothing from now on; everything has been told.
    func end() async {
        await task.value
        Self.show("")
    }

    /// The last word, to a person.
    func tellSize(of path: String) {
        guard Self.isTerminal, let size = FileName.size(of: path) else { return }
        StandardError.write("\(path): \(ByteText.text(size))")
    }

    private static func show(_ text: String) {
        guard isTerminal else { return }
        _ = try? StandardStream.write(Array("\r\u{1b}[K\(text)".utf8), to: STDERR_FILENO)
    }
}
