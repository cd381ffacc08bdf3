import Foundation
import Glibc
import NetworkLab
import TestSupport
import Testing

/// The `reachability` binary under test: REACHABILITY_BINARY, or the one beside the running test bundle.
enum Command {
    static let path: String = {
        if let chosen = getenv("REACHABILITY_BINARY") { return String(cString: chosen) }
        return BuiltProgram.path("reachability")
    }()

    /// Removes the width of the terminal and the trust store of this machine, which takes long to read in debug builds.
    private static let base = ["-u", "COLUMNS", "-u", "NO_COLOR", "-u", "SSL_CERT_DIR", "SSL_CERT_FILE=/dev/null"]

    /// Starts the binary in the calling thread's namespace. The environment does not depend on that of the tests.
    static func start(_ arguments: [String], environment: [String] = []) throws -> LabProcess {
        try LabProcess("env", base + environment + [path] + arguments)
    }

    /// Runs a shell script in which `$R` is the binary.
    static func shell(_ script: String, _ arguments: [String] = []) throws -> LabProcess {
        try LabProcess("env", base + ["R=\(path)", "sh", "-c", script, "sh"] + arguments)
    }

    /// Runs the binary to its end, in a namespace if given.
    static func run(_ arguments: [String], in namespace: LabNamespace? = nil) async throws -> CommandResult {
        try await perform(in: namespace) { try start(arguments) }
    }

    /// Runs a shell script to its end, in a namespace if given.
    static func run(script: String, in namespace: LabNamespace? = nil) async throws -> CommandResult {
        try await perform(in: namespace) { try shell(script) }
    }

    /// Expects that a process has ended. It may be a zombie.
    static func expectEnd(of process: pid_t) async throws {
        let script = "! grep -q '^State:[[:space:]][^ZX]' /proc/\(process)/status 2>/dev/null"
        #expect(try await run(script: script).status == 0, "process \(process) is still there")
    }

    private static func perform(
        in namespace: LabNamespace?,
        _ start: @escaping @Sendable () throws -> LabProcess
    ) async throws -> CommandResult {
        try await LabNamespace.perform(in: namespace) {
            let result = try start().wait()
            return CommandResult(status: result.status, output: result.output, errors: result.errors)
        }
    }
}

/// The result of a run of the command.
struct CommandResult: Sendable, Equatable {
    /// The exit status, or the negative number of the signal that ended it.
    let status: CInt
    let output: String
    let errors: String

    /// The text of standard error, with TIME in place of durations of programs.
    var errorsWithoutDurations: String { errors.replacing(#/ after \d+\.\d{3}s/#, with: " after TIME") }

    var lines: [Substring] { output.split(separator: "\n") }

    /// Expects a refusal: one sentence on standard error, nothing on standard output, and the exit status.
    func expectRefusal(_ sentence: String, status: CInt = 64, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(
            self == CommandResult(status: status, output: "", errors: "reachability: \(sentence)\n"),
            sourceLocation: sourceLocation
        )
    }
}

/// A running command with its lines and its end. Waiting blocks no thread.
actor RunningCommand {
    private let process: LabProcess
    private var taken = 0
    nonisolated let identifier: pid_t

    init(_ process: sending LabProcess) {
        identifier = process.identifier
        self.process = process
    }

    /// Starts the binary in a namespace.
    static func start(_ arguments: [String], in namespace: LabNamespace? = nil) async throws -> RunningCommand {
        try await start(in: namespace) { try Command.start(arguments) }
    }

    /// Starts a shell script in a namespace. `$R` is the binary.
    static func start(script: String, in namespace: LabNamespace? = nil) async throws -> RunningCommand {
        try await start(in: namespace) { try Command.shell(script) }
    }

    /// Starts the process that `body` creates, on a thread in a namespace.
    static func start(
        in namespace: LabNamespace?,
        _ make: @escaping @Sendable () throws -> LabProcess
    ) async throws -> RunningCommand {
        try await LabNamespace.perform(in: namespace) { RunningCommand(try make()) }
    }

    /// Returns the next complete line.
    func line(within limit: Duration = .patience) async throws -> String {
        var line: String?
        _ = try await eventually(within: limit, every: .milliseconds(5)) {
            line = takeLine()
            return line != nil
        }
        guard let line else { throw LabError("no line was printed within \(limit): \(errors)") }
        return line
    }

    /// Returns the next line about a target without the text before the state. Other lines are skipped.
    func status(of target: String = "network") async throws -> Substring {
        while true {
            let line = try await line()
            if let range = line.firstRange(of: " \(target): ") { return line[range.upperBound...] }
        }
    }

    /// Returns the complete lines that were received and not returned yet.
    func restOfLines() -> [String] {
        var lines: [String] = []
        while let line = takeLine() { lines.append(line) }
        return lines
    }

    /// The text of standard error so far.
    var errors: String {
        _ = process.drain()
        return String(decoding: process.errors, as: UTF8.self)
    }

    /// Returns whether standard output contains a text so far.
    func hasWritten(_ text: String) -> Bool { String(decoding: process.drain(), as: UTF8.self).contains(text) }

    /// Waits until standard error contains a text `times` times.
    func untilErrors(contain text: String, times: Int = 1, within limit: Duration = .patience) async throws {
        let isThere = try await eventually(within: limit, every: .milliseconds(5)) {
            errors.ranges(of: text).count >= times
        }
        guard isThere else { throw LabError("not \(times) times \"\(text)\" in \(limit): \(errors)") }
    }

    nonisolated func signal(_ number: CInt) {
        kill(identifier, number)
    }

    /// Limits the number of open files of the command. Open descriptors stay open.
    nonisolated func limitDescriptors(to count: Int) throws {
        let result = try LabProcess("prlimit", ["--pid", "\(identifier)", "--nofile=\(count):"]).wait()
        guard result.status == 0 else { throw LabError(result.errors) }
    }

    /// Sends a signal if given, and waits for the end, with or without reading the output.
    func result(
        after number: CInt? = nil,
        within limit: Duration = .patience,
        reading: Bool = true
    ) async throws -> CommandResult {
        if let number { signal(number) }
        let hasEnded = try await eventually(within: limit, every: .milliseconds(5)) {
            if reading { _ = process.drain() }
            var information = siginfo_t()
            let code = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
            return code == 0 && information.si_signo == SIGCHLD
        }
        let result = try process.wait(within: .zero)
        guard hasEnded else { throw LabError("the command did not end in \(limit): \(result.errors)") }
        return CommandResult(status: result.status, output: result.output, errors: result.errors)
    }

    /// Closes the reading end of the command's output.
    func closeOutput() {
        process.outputDescriptor.close()
    }

    /// Waits until the command blocks because its output is not read.
    func untilPipeIsFull() async throws {
        var counts: [Substring?] = []
        let isFull = try await eventually {
            let text = try? String(contentsOfFile: "/proc/\(identifier)/io", encoding: .utf8)
            counts.append(text?.split(separator: "\n").first { $0.hasPrefix("wchar") })
            let last = counts.suffix(10)
            return last.count == 10 && Set(last).count == 1 && last.last != "wchar: 0"
        }
        guard isFull else { throw LabError("the pipe did not fill") }
    }

    private func takeLine() -> String? {
        let bytes = process.drain()
        guard let end = bytes[taken...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        defer { taken = end + 1 }
        return String(decoding: bytes[taken..<end], as: UTF8.self)
    }
}

/// Programs that a test needs in addition to the command.
enum Tools {
    /// True if there are other users. In `unshare -Ur` there is only one.
    static var hasOtherUsers: Bool {
        (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8))?.hasSuffix(" 1\n") == false
    }

    static func has(_ name: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"].contains { access($0 + name, X_OK) == 0 }
    }
}
