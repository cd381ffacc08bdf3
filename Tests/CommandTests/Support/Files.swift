import Foundation
import Glibc
import NetworkLab

/// The files of this package.
enum Checkout {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func path(_ name: String) -> String { root.appending(path: name).path }

    static func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }
}

/// A directory that is removed with its last reference.
final class ScratchDirectory: Sendable {
    let path = "/tmp/scratch-\(getpid())-\(UInt64.random(in: 0 ... .max))"

    init() {
        guard mkdir(path, 0o755) == 0 else { fatalError("mkdir \(path): error \(errno)") }
    }

    /// Writes a file with a mode, regardless of the umask.
    ///
    /// A separate process writes it. Otherwise a program that another test starts at that moment would inherit the file open for writing,
    /// and the file could not be executed (ETXTBSY).
    func write(_ name: String, _ text: String, mode: mode_t = 0o755) throws {
        let result = try LabProcess("tee", [file(name)], input: text).wait()
        guard result.status == 0 else { throw LabError(result.errors) }
        guard chmod(file(name), mode) == 0 else { throw LabError.system("chmod \(name)") }
    }

    func write(_ name: String, bytes: some Collection<UInt8>) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
    }

    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file(name)))) }

    /// Creates a fifo that delays a command.
    func makeFifo(_ name: String) throws {
        guard mkfifo(file(name), 0o600) == 0 else { throw LabError.system("mkfifo \(name)") }
    }

    /// Releases a command that reads from a fifo, and waits until it continues.
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

/// A file of hosts that is removed with its last reference.
final class HostsFile: Sendable {
    let path = "/tmp/hosts-\(getpid())-\(UInt64.random(in: 0 ... .max))"

    init(_ text: String) throws {
        try write(text)
    }

    convenience init(_ hosts: [String]) throws {
        try self.init(hosts.map { $0 + "\n" }.joined())
    }

    func write(_ text: String) throws {
        guard let file = fopen(path, "w") else { throw LabError.system("fopen \(path)") }
        defer { fclose(file) }
        guard fwrite(text, 1, text.utf8.count, file) == text.utf8.count else { throw LabError.system("fwrite \(path)") }
    }

    func remove() {
        unlink(path)
    }

    deinit {
        remove()
    }
}

/// An outbox file, and the command's output about it, with TIME in place of each time.
final class OutboxScratch: Sendable {
    let directory = ScratchDirectory()
    var file: String { directory.file("outbox") }

    /// Runs `reachability outbox` on the file, after a shell script.
    func run(
        _ arguments: String,
        after script: String = "",
        in namespace: LabNamespace? = nil
    ) async throws -> CommandResult {
        let words = arguments.split(separator: " ", maxSplits: 1)
        let rest = words.count > 1 ? " \(words[1])" : ""
        let result = try await Command.run(
            script: "cd \(directory.path); \(script)\n$R outbox \(words[0]) --outbox \(file)\(rest)",
            in: namespace
        )
        let time = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#
        return CommandResult(
            status: result.status,
            output: result.output.replacing(time, with: "TIME"),
            errors: result.errors.replacing(directory.path, with: "DIR")
        )
    }
}
