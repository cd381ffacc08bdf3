import TrustForge
import WebLab

/// nginx, which answers each request with 200, or with 400 if it misses a client's certificate.
struct NginxServer {
    let port: Int
    private let program: Program

    /// - Parameters:
    ///   - chain: What it shows, its own certificate first.
    ///   - options: More of its directives.
    ///   - clientAnchors: Whose clients it takes; nobody is asked if nil.
    init(_ chain: [Forged], _ options: [String] = [], clientAnchors: [Forged]? = nil) async throws {
        // It cannot be told to take any port that is free. One below those that the system gives away is free as a rule; one
        // that was bound to be found free may live on in a process that another test has started meanwhile.
        for _ in 0..<20 {
            let port = Int.random(in: 20_000..<32_000)
            if let program = try await Self.start(chain, options, clientAnchors, port) {
                (self.program, self.port) = (program, port)
                return
            }
        }
        throw Program.Failure(said: "every port was taken")
    }

    /// Nil if somebody has taken the port meanwhile.
    private static func start(
        _ chain: [Forged],
        _ options: [String],
        _ clientAnchors: [Forged]?,
        _ port: Int
    ) async throws -> Program? {
        let directory = try ScratchDirectory()
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
