import Foundation
import NetworkLab
import ReachabilityOutbox

/// A place for an outbox, in a directory of its own that is gone when nobody holds it any more.
final class ScratchFile: Sendable {
    let directory = "/tmp/outbox-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    var path: String { directory + "/outbox.sqlite" }

    init() {
        guard mkdir(directory, 0o755) == 0 else { fatalError("mkdir \(directory): error \(errno)") }
    }

    func open(_ options: OutboxOptions = OutboxOptions()) async throws(OutboxError) -> Outbox {
        try await Outbox(file: path, options: options)
    }

    /// The names of what is there.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted() }

    /// Names, modes, sizes, times and contents of what is there, but for the index of the log, which whoever has the file open
    /// writes all the time; the directory's time says whether one was made.
    var state: String {
        get throws {
            let script = "find . ! -name '*-shm' -printf '%p %y %m %s %T@ %i\\n' -type f -exec sha256sum {} + | sort"
            return try LabProcess("sh", ["-c", "cd \(directory) && " + script]).wait().output
        }
    }

    /// Whether a text is anywhere in the files, as bytes. Foundation's `Data` would leak its buffer for each file that is empty.
    func contents(contain text: String) throws -> Bool {
        let result = try LabProcess("grep", ["-raqF", "-f", "-", directory], input: text + "\n").wait()
        guard result.status < 2 else { throw LabError(result.errors) }
        return result.status == 0
    }

    func sqlite(_ script: String) throws -> String {
        let result = try LabProcess("sqlite3", [path], input: ".timeout 5000\n" + script).wait()
        guard result.status == 0 else { throw LabError(result.errors) }
        return result.output
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }
}
