import NetworkLab
import TrustForge
import WebLab

/// `openssl s_server` on loopback with forged certificates, and a way to run the command against it.
///
/// In its directory are the roots `root.pem` and `stranger.pem`, `leaf.pem` with its key `key.pem`, and the files that a test writes.
final class TLSServer: Sendable {
    let directory: ScratchDirectory
    private let address: String
    private let server: OpenSSLServer

    /// - Parameters:
    ///   - leaf: The server's own certificate. The intermediate is sent too.
    ///   - isKeyless: True if the server uses the certificate of another server without its key.
    ///   - options: Additional arguments.
    static func start(
        _ leaf: Forged = TrustWorld.leaf,
        isKeyless: Bool = false,
        address: String = "127.0.0.1",
        options: [String] = []
    ) async throws -> TLSServer {
        let directory = ScratchDirectory()
        try directory.write("root.pem", PEM.text([TrustWorld.root.der]))
        try directory.write("stranger.pem", PEM.text([TrustWorld.stranger.der]))
        try directory.write("leaf.pem", PEM.text([leaf.der]))
        try directory.write("key.pem", try leaf.key.key.serializeAsPEM().pemString, mode: 0o600)
        let chain = [leaf, TrustWorld.intermediate]
        let server = try await OpenSSLServer(chain, options, address: address, isKeyless: isKeyless)
        return TLSServer(directory, address, server)
    }

    private init(_ directory: ScratchDirectory, _ address: String, _ server: OpenSSLServer) {
        (self.directory, self.address, self.server) = (directory, address, server)
    }

    var port: Int { server.port }

    /// Runs `reachability` in its directory with `root.pem` as the system's roots. PORT in the arguments and in the
    /// result stands for the server's port.
    func run(_ arguments: String, environment: String = "SSL_CERT_FILE=root.pem") async throws -> CommandResult {
        let command = arguments.prefix { $0 != " " }
        // Ten seconds are too short on a busy machine.
        let limit = ["pin", "trust"].contains(command) ? " --time-limit 300s" : ""
        let limited = command + limit + arguments.dropFirst(command.count)
        let script = "cd \(directory.path); unset SSL_CERT_DIR; export \(environment); $R \(limited)"
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

    /// Runs `reachability trust` with a policy file for `example.org`.
    func trust(_ policy: String, host: String = "example.org", options: String = "") async throws -> CommandResult {
        try directory.write("policy.json", policy)
        return try await run("trust \(host) --connect-to \(address):PORT --policy policy.json \(options)")
    }
}
