import Foundation
import NetworkLab

/// How often the threads of a process went to sleep: none of them has run in between if that has not grown.
///
/// Source: `voluntary_ctxt_switches` in `proc_pid_status(5)`.
struct ThreadActivity {
    private let process: pid_t

    init(of process: pid_t) {
        self.process = process
    }

    /// The sum over all threads there are. Throws when the process is gone.
    var switches: Int {
        get throws {
            let directory = "/proc/\(process)/task"
            return try FileManager.default.contentsOfDirectory(atPath: directory).reduce(0) { sum, thread in
                // One that has just ended counts no more.
                let status = (try? String(contentsOfFile: "\(directory)/\(thread)/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
                return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
            }
        }
    }

    /// Waits until the process has been asleep for so long. Threads that have no work end after five seconds; then nothing is
    /// left that was begun before.
    func waitForRest(of duration: Duration = .seconds(6)) async throws {
        var last: (switches: Int, since: ContinuousClock.Instant)?
        let isQuiet = try await eventually(every: .milliseconds(50)) {
            let now = ContinuousClock.now
            let switches = try self.switches
            if last?.switches != switches { last = (switches, now) }
            return last.map { now - $0.since > duration } ?? false
        }
        guard isQuiet else { throw LabError("the process does not come to rest") }
    }
}
