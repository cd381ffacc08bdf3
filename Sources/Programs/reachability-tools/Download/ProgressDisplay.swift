import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityRequests

/// Reports when a download restarts from the beginning, and shows its progress on a terminal.
struct ProgressDisplay: Sendable {
    private let task: Task<Void, Never>

    init(_ progress: AsyncStream<Progress>) {
        task = Task {
            var (line, restarts) = (ProgressLine(), 0)
            let begun = ContinuousClock.now
            for await step in progress {
                if step.restarts > restarts, let reason = step.restartReason {
                    restarts = step.restarts
                    StandardError.showProgress("")
                    StandardError.report("restarted from the beginning: \(reason)")
                }
                guard StandardError.isTerminal else { continue }
                StandardError.showProgress(line.text(step, at: begun.duration(to: .now)))
                // The stream keeps only the newest progress meanwhile.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Waits for the last progress, and ends the display.
    func end() async {
        await task.value
        StandardError.showProgress("")
    }

    /// Prints the size of the file on a terminal.
    func printSize(of path: String) {
        guard StandardError.isTerminal, let size = FileName.size(of: path) else { return }
        StandardError.write("\(path): \(ByteText.text(size))")
    }
}

/// The progress of a download in at most 79 columns: ` 45 % [=====>      ] 123.4 MB of 270.0 MB, 12.3 MB/s, 12 s left`.
struct ProgressLine {
    private static let bar = 20
    /// The period over which the rate is measured, in seconds.
    private static let window = 5.0

    /// The number of received bytes at each time, in seconds.
    private var samples: [(time: Double, bytes: Int64)] = []

    /// Returns the line for the current progress.
    ///
    /// - Parameters:
    ///   - step: The current progress.
    ///   - time: The time since the start.
    mutating func text(_ step: Progress, at time: Duration) -> String {
        if step.isWaitingForNetwork {
            samples = []
            return "waiting for the network; \(ByteText.text(step.completedUnitCount)) received"
        }
        let rate = rate(step.completedUnitCount, at: time / .seconds(1))
        var words = [ByteText.text(step.completedUnitCount)]
        var front = ""
        let total = step.totalUnitCount
        if total > 0 {
            let share = min(1, Double(step.completedUnitCount) / Double(total))
            let percent = "\(Int(share * 100))"
            let done = Int(share * Double(Self.bar))
            let head = done < Self.bar ? ">" : ""
            let rest = String(repeating: " ", count: Self.bar - done - head.count)
            let padding = String(repeating: " ", count: 3 - percent.count)
            front = "\(padding)\(percent) % [\(String(repeating: "=", count: done))\(head)\(rest)] "
            words[0] += " of \(ByteText.text(total))"
        }
        if let rate {
            words.append("\(ByteText.text(Int64(rate)))/s")
            if total >= 0, rate >= 1 { words.append(Self.left(Double(total - step.completedUnitCount) / rate)) }
        }
        return front + words.joined(separator: ", ")
    }

    /// Returns the rate in bytes per second; nil while it is unknown.
    private mutating func rate(_ bytes: Int64, at time: Double) -> Double? {
        if let last = samples.last, bytes < last.bytes { samples = [] }
        samples.append((time, bytes))
        // One sample before the period is kept, so that the rate of a stalled download decreases.
        while samples.count > 2, samples[1].time <= time - Self.window { samples.removeFirst() }
        guard let first = samples.first, time - first.time >= 0.5 else { return nil }
        return Double(bytes - first.bytes) / (time - first.time)
    }

    private static func left(_ seconds: Double) -> String {
        switch seconds {
        case ..<100: "\(Int(seconds.rounded(.up))) s left"
        case ..<6000: "\(Int(seconds / 60)) min left"
        case ..<360_000: "\(Int(seconds / 3600)) h left"
        default: "days left"
        }
    }
}

/// Formats numbers of bytes: `999 B`, `12.3 kB`, `270.0 MB`.
enum ByteText {
    static func text(_ bytes: Int64) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var (tenths, unit) = (bytes / 100, 0)
        while tenths >= 10_000, unit < units.count - 1 { (tenths, unit) = (tenths / 1000, unit + 1) }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    private static let units = ["kB", "MB", "GB", "TB"]
}
