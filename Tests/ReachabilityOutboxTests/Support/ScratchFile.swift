import Foundation
import NetworkLab
import ReachabilityOutbox

/// The path of an outbox in a temporary directory, which is deleted with the object.
final class ScratchFile: Sendable {
    let directory = "/tmp/outbox-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    var path: String { directory + "/outbox.sqlite" }

    init() {
        guard mkdir(directory, 0o755) == 0 else { fatalError("mkdir \(directory): error \(errno)") }
    }

    func open(_ options: OutboxOptions = OutboxOptions()) async throws(OutboxError) -> Outbox {
        try await Outbox(file: path, options: options)
    }

    /// The names of the files in the directory.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted() }

    /// The names, modes, sizes, times and contents of the files, except the index of the log, which an open database
    /// writes continually. The time of the directory shows whether an index was created.
    var state: String {
        get throws {
            let script = "find . ! -name '*-shm' -printf '%p %y %m %s %T@ %i\\n' -type f -exec sha256sum {} + | sort"
            return try LabProcess("sh", ["-c", "cd \(directory) && " + script]).wait().output
        }
    }

    /// Returns whether a text occurs in the files, as bytes. Foundation's `Data` would leak its buffer for each empty
    /// file.
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
