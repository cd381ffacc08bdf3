package import TrustForge

/// `openssl s_server`, which answers each HTTP request. It is an independent peer: the other servers use the TLS library of our clients.
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
        let directory = try ScratchDirectory()
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
