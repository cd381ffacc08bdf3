import Foundation
import NetworkLab
import ReachabilityOutbox

/// A place for an outbox, in a directory of its own that is gone when nobody holds it any more.
final class ScratchFile: Sendable {
    let directory = "/tmp/outbox-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    var path: String { directory + "/outbox.sqlite" }

    init() throws {
        guard mkdir(directory, 0o755) == 0 else { throw LabError.system("mkdir \(directory)") }
    }

    func open(_ options: OutboxOptions = OutboxOptions()) async throws(OutboxError) -> Outbox {
        try await Outbox(file: path, options: options)
    }

    /// The names of what is there.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted() }

    func sqlite(_ script: String) throws -> String {
        let result = try LabProcess("sqlite3", [path], input: ".timeout 5000\n" + script).wait()
        guard result.status == 0 else { throw LabError(result.errors) }
        return result.output
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }
}
