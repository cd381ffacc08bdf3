import CommandLineSupport
import Glibc
import LinuxSupport
import ReachabilityChecks

/// Shows on a terminal what a check is waiting for; nothing elsewhere. Thread-safe.
final class CheckProgress: Sendable {
    private struct State {
        var done = 0
        var broken = 0
    }

    private let state = Locked(State())
    private let task: Task<Void, Never>?

    /// - Parameters:
    ///   - out: What is waited for.
    ///   - targets: How many there are.
    init(_ out: ProbesOut, targets: Int) {
        guard isatty(STDERR_FILENO) == 1 else {
            task = nil
            return
        }
        task = Task { [state] in
            let begun = ContinuousClock.now
            while true {
                do { try await Task.sleep(for: .milliseconds(250)) } catch { return }
                let tenths = (ContinuousClock.now - begun).milliseconds / 100
                let time = "\(tenths / 10).\(tenths % 10) s"
                let (done, broken) = state.withLock { ($0.done, $0.broken) }
                if targets > 1 {
                    Self.show("\(done) of \(targets) checked, \(broken) broken, \(time)")
                } else {
                    Self.show("\(time), waiting for \(out.names.joined(separator: ", "))")
                }
            }
        }
    }

    /// A target is done.
    func count(_ report: CheckReport) {
        state.withLock { state in
            state.done += 1
            if report.verdict.place.exitCode >= 10 { state.broken += 1 }
        }
    }

    /// Makes room for a line.
    func clear() {
        if task != nil { Self.show("") }
    }

    /// Shows nothing from now on.
    func end() async {
        guard let task else { return }
        task.cancel()
        await task.value
        Self.show("")
    }

    private static func show(_ text: String) {
        _ = try? StandardStream.write(Array("\r\u{1b}[K\(text.printable.prefix(79))".utf8), to: STDERR_FILENO)
    }
}
