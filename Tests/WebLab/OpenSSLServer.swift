import LinuxSupport
import NetworkLab
package import TrustForge

/// An `openssl s_server` that answers each HTTP request. It is an independent peer, because the other servers use the
/// TLS library of the clients.
package final class OpenSSLServer: Sendable {
    package let port: Int
    private let program: Program

    /// - Parameters:
    ///   - chain: The certificate of the server, then the intermediates.
    ///   - options: More options of `openssl s_server`.
    ///   - isKeyless: Whether the server lacks the key of its certificate.
    ///   - clientAnchors: The authorities of clients; if nil, no client certificate is requested.
    package init(
        _ chain: [Forged],
        _ options: [String] = [],
        address: String = "127.0.0.1",
        isKeyless: Bool = false,
        clientAnchors: [Forged]? = nil
    ) async throws {
        let directory = ScratchDirectory()
        var arguments = [
            "s_server", "-accept", "\(address):0", "-www", "-cert", try directory.write("leaf.pem", [chain[0]]),
            "-key", try directory.write("key.pem", chain[0].key, isKeyless: isKeyless),
        ]
        if chain.count > 1 {
            arguments += ["-cert_chain", try directory.write("chain.pem", Array(chain.dropFirst()))]
        }
        if let clientAnchors {
            arguments += ["-Verify", "3", "-verify_return_error"]
            arguments += ["-CAfile", try directory.write("clients.pem", clientAnchors)]
        }
        (program, port) = try await Program.start(
            "openssl",
            arguments + options,
            in: directory,
            ready: Program.acceptedPort
        )
    }
}

/// A server program that is independent of the code under test. It is killed with its last owner.
package final class Program: Sendable {
    /// The program did not become ready; `said` is its output.
    package struct Failure: Error {
        package let said: String

        package init(said: String) {
            self.said = said
        }
    }

    private let process: Locked<LabProcess>
    private let directory: ScratchDirectory

    /// Whether the program can be started; tests that need it are skipped otherwise.
    package static func isInstalled(_ name: String, _ arguments: String...) -> Bool {
        (try? LabProcess(name, arguments).wait().status) == 0
    }

    package static let hasOpenSSL = isInstalled("openssl", "version")
    package static let hasNginx = isInstalled("nginx", "-v")

    private init(_ process: consuming sending LabProcess, _ directory: ScratchDirectory) {
        self.process = Locked(process)
        self.directory = directory
    }

    /// Starts the program and waits, on a separate thread, until `ready` returns a value for its output.
    package static func start<Value: Sendable>(
        _ name: String,
        _ arguments: [String],
        in directory: ScratchDirectory,
        ready: @escaping @Sendable (_ said: String) throws -> Value?
    ) async throws -> (program: Program, value: Value) {
        try await LabThread.detached {
            let program = Program(try LabProcess(name, arguments), directory)
            var value: Value?
            _ = try Deadline(after: .patience).poll {
                value = try ready(program.said)
                return value != nil
            }
            guard let value else { throw Failure(said: program.said) }
            return (program, value)
        }
    }

    /// The text of standard output and standard error so far.
    package var said: String {
        process.withLock { process in
            let output = process.drain()
            return String(decoding: output + process.errors, as: UTF8.self)
        }
    }

    /// The port in the line that `openssl` prints when it is ready: `ACCEPT 127.0.0.1:4433`, and more.
    @Sendable package static func acceptedPort(_ said: String) -> Int? {
        let line = said.split(separator: "\n").first { $0.hasPrefix("ACCEPT ") }
        guard let line, said.contains("\n"), let place = line.split(separator: " ").dropFirst().first else {
            return nil
        }
        return place.split(separator: ":").last.flatMap { Int($0) }
    }
}
