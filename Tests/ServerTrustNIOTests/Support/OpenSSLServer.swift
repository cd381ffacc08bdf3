import TrustForge

/// `openssl s_server`, which answers each request of HTTP.
struct OpenSSLServer {
    let port: Int
    private let program: Program

    /// - Parameters:
    ///   - chain: What it shows, its own certificate first.
    ///   - options: More of its options.
    ///   - isKeyless: Whether it has the certificate of somebody else, and not the key.
    ///   - clientAnchors: Whose clients it takes, and none else; nobody is asked if nil.
    init(
        _ chain: [Forged],
        _ options: [String] = [],
        isKeyless: Bool = false,
        clientAnchors: [Forged]? = nil
    ) async throws {
        let directory = try ScratchDirectory()
        var arguments = [
            "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", try directory.write("leaf.pem", [chain[0]]),
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
