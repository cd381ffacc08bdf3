import TrustForge
import WebLab

/// An nginx that answers each request with 200, or with 400 if a required client certificate is missing.
struct NginxServer {
    let port: Int
    private let program: Program

    /// - Parameters:
    ///   - chain: The certificates of the server, its own first.
    ///   - options: More directives of the configuration.
    ///   - clientAnchors: The authorities of accepted client certificates. If nil, no client certificate is
    ///     requested.
    init(_ chain: [Forged], _ options: [String] = [], clientAnchors: [Forged]? = nil) async throws {
        // nginx cannot select a free port itself. A port below the range of ephemeral ports is usually free. A port
        // found by binding a socket may still be open in a process that another test has started meanwhile.
        for _ in 0..<20 {
            let port = Int.random(in: 20_000..<32_000)
            if let program = try await Self.start(chain, options, clientAnchors, port) {
                (self.program, self.port) = (program, port)
                return
            }
        }
        throw Program.Failure(said: "every port was taken")
    }

    /// Returns nil if the port is taken.
    private static func start(
        _ chain: [Forged],
        _ options: [String],
        _ clientAnchors: [Forged]?,
        _ port: Int
    ) async throws -> Program? {
        let directory = ScratchDirectory()
        let path = directory.path
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        var lines = kinds.map { "\($0)_temp_path \(path)/\($0);" }
        lines += [
            "access_log off;", "server {", "listen 127.0.0.1:\(port) ssl;",
            "ssl_certificate \(try directory.write("chain.pem", chain));",
            "ssl_certificate_key \(try directory.write("key.pem", chain[0].key));",
            "location / { return 200 'hello'; }",
        ]
        if let clientAnchors {
            lines += [
                "ssl_client_certificate \(try directory.write("clients.pem", clientAnchors));", "ssl_verify_client on;",
            ]
        }
        let configuration = """
            daemon off; master_process off; pid \(path)/pid; error_log \(path)/log notice;
            events { worker_connections 64; }
            http { \((lines + options).joined(separator: "\n")) } }
            """
        let file = try directory.write("nginx.conf", configuration)
        let (program, isRunning) = try await Program.start(
            "nginx",
            ["-e", "\(path)/log", "-p", path, "-c", file],
            in: directory
        ) { said -> Bool? in
            if !directory.text("pid").isEmpty { return true }
            let said = said + directory.text("log")
            if said.contains("Address already in use") { return false }
            guard !said.contains("[emerg]") else { throw Program.Failure(said: said) }
            return nil
        }
        return isRunning ? program : nil
    }
}
