import LinuxPrimitives
import NetworkLab
import TrustForge

/// A server that is a program of others; it is ended when nobody holds it any more.
final class Program: Sendable {
    /// It did not become ready; the text is what it said.
    struct Failure: Error {
        let said: String
    }

    private let process: Locked<LabProcess>
    private let directory: ScratchDirectory

    /// Whether it can be started; tests that need it are skipped otherwise.
    static func isInstalled(_ name: String, _ arguments: String...) -> Bool {
        (try? LabProcess(name, arguments).wait().status) == 0
    }

    static let hasOpenSSL = isInstalled("openssl", "version")
    static let hasNginx = isInstalled("nginx", "-v")

    private init(_ process: consuming sending LabProcess, _ directory: ScratchDirectory) {
        self.process = Locked(process)
        self.directory = directory
    }

    /// Starts it and waits, on a thread of its own, until it is ready.
    static func start<Value: Sendable>(
        _ name: String,
        _ arguments: [String],
        in directory: ScratchDirectory,
        ready: @escaping @Sendable (_ said: String) throws -> Value?
    ) async throws -> (program: Program, value: Value) {
        try await LabThread.detached {
            let program = Program(try LabProcess(name, arguments), directory)
            var value: Value?
            _ = try Deadline(after: .seconds(30)).poll {
                value = try ready(program.said)
                return value != nil
            }
            guard let value else { throw Failure(said: program.said) }
            return (program, value)
        }
    }

    /// What it has said on standard output and standard error.
    var said: String {
        process.withLock { process in
            let output = process.drain()
            return String(decoding: output + process.errors, as: UTF8.self)
        }
    }

    /// The port of what `openssl` says when it is ready: `ACCEPT 127.0.0.1:4433`, and more.
    @Sendable static func acceptedPort(_ said: String) -> Int? {
        let line = said.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
        guard let line, said.contains("\n"), let place = line.split(separator: " ").dropFirst().first else {
            return nil
        }
        return place.split(separator: ":").last.flatMap { Int($0) }
    }
}
