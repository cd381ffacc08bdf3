import NetworkLab
import TrustForge
import X509

/// `openssl s_server` on loopback with forged certificates, until nobody holds it any more; and the command, asked about it.
///
/// In its directory are `root.pem` and `stranger.pem`, roots, and what a test writes.
final class TLSServer: Sendable {
    let directory: ScratchDirectory
    let port: Int
    private let address: String
    private let process: RunningCommand

    /// - Parameters:
    ///   - leaf: Its own certificate; the intermediate is sent too.
    ///   - isKeyless: Whether it has the certificate of somebody else, and not the key.
    ///   - options: More arguments.
    static func start(
        _ leaf: Forged = TrustWorld.leaf,
        isKeyless: Bool = false,
        address: String = "127.0.0.1",
        options: [String] = []
    ) async throws -> TLSServer {
        let directory = try ScratchDirectory()
        try directory.write("leaf.pem", PEM.text([leaf.der]))
        try directory.write("chain.pem", PEM.text([TrustWorld.intermediate.der]))
        try directory.write("root.pem", PEM.text([TrustWorld.root.der]))
        try directory.write("stranger.pem", PEM.text([TrustWorld.stranger.der]))
        let key = isKeyless ? try leaf.key.keylessPEM() : try leaf.key.key.serializeAsPEM().pemString
        try directory.write("key.pem", key, mode: 0o600)
        let arguments = [
            "s_server", "-www", "-accept", "\(address):0", "-cert", directory.file("leaf.pem"), "-key",
            directory.file("key.pem"), "-cert_chain", directory.file("chain.pem"),
        ]
        let process = try await RunningCommand.start(in: nil) { try LabProcess("openssl", arguments + options) }
        while true {
            let line = try await process.line()
            guard line.hasPrefix("ACCEPT "), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
                continue
            }
            return TLSServer(directory, address, port, process)
        }
    }

    private init(_ directory: ScratchDirectory, _ address: String, _ port: Int, _ process: RunningCommand) {
        self.directory = directory
        self.address = address
        self.port = port
        self.process = process
    }

    /// Runs `reachability` in its directory with `root.pem` as the system's roots; PORT in the arguments and in what comes of it is the
    /// server's.
    func run(_ arguments: String, environment: String = "SSL_CERT_FILE=root.pem") async throws -> CommandResult {
        let script = "cd \(directory.path); unset SSL_CERT_DIR; export \(environment); $R \(arguments)"
        let result = try await Command.run(script: script.replacing("PORT", with: "\(port)"))
        return CommandResult(
            status: result.status,
            output: result.output.replacing(":\(port)", with: ":PORT").replacing(
                "\"port\":\(port)",
                with: "\"port\":PORT"
            ),
            errors: result.errors.replacing(":\(port)", with: ":PORT")
        )
    }

    /// `reachability trust` with a policy file, for `example.org`.
    func trust(_ policy: String, host: String = "example.org", options: String = "") async throws -> CommandResult {
        try directory.write("policy.json", policy)
        return try await run("trust \(host) --connect-to \(address):PORT --policy policy.json \(options)")
    }
}
