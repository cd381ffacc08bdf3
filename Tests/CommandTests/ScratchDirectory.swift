import Foundation
import NetworkLab

/// A directory that is gone when nobody holds it any more.
final class ScratchDirectory: Sendable {
    let path = "/tmp/scratch-\(getpid())-\(UInt64.random(in: 0 ... .max))"

    init() throws {
        guard mkdir(path, 0o755) == 0 else { throw LabError.system("mkdir \(path)") }
    }

    /// Writes a file of that mode, whatever the umask.
    ///
    /// In a process of its own: what another test starts at that moment would hold a descriptor of ours open for writing, and
    /// such a file cannot be executed (ETXTBSY).
    func write(_ name: String, _ text: String, mode: mode_t = 0o755) throws {
        let result = try LabProcess("tee", [file(name)], input: text).wait()
        guard result.status == 0 else { throw LabError(result.errors) }
        guard chmod(file(name), mode) == 0 else { throw LabError.system("chmod \(name)") }
    }

    /// Makes a fifo to hold a command up with.
    func makeFifo(_ name: String) throws {
        guard mkfifo(file(name), 0o600) == 0 else { throw LabError.system("mkfifo \(name)") }
    }

    /// Lets one command go on that reads from a fifo; waits until it does.
    func release(_ name: String) async throws {
        let file = file(name)
        try await LabThread.detached { try "\n".write(toFile: file, atomically: false, encoding: .utf8) }
    }

    func makeFolder(_ name: String) throws {
        guard mkdir(file(name), 0o755) == 0 else { throw LabError.system("mkdir \(name)") }
    }

    func link(_ name: String, to target: String) throws {
        guard symlink(target, file(name)) == 0 else { throw LabError.system("symlink \(name)") }
    }

    func remove(_ name: String) throws {
        guard unlink(file(name)) == 0 else { throw LabError.system("unlink \(name)") }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
