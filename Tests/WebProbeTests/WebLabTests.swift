import LinuxSupport
import NetworkLab
import Testing
import TrustForge
import WebLab

/// The lab's server, tested with another program.
@Suite struct WebLabTests {
    @Test(.enabled(if: InputFile.isReadable("/usr/bin/curl"), "curl is not installed"))
    func `curl receives the configured answer of the server`() async throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        try namespace.ip("link set lo up")
        let directory = ScratchDirectory()
        let roots = try WebAuthority.write(to: directory)
        let plain = try await WebServer(in: namespace, port: 80)
        let secure = try await WebServer(in: namespace, at: ["127.0.0.1"], port: 443, identity: .good(for: "127.0.0.1"))
        func curl(_ arguments: String...) async throws -> String {
            try await namespace.perform {
                let result = try namespace.run("curl", ["-sS", "-i", "--max-time", "20"] + arguments)
                return result.output + result.errors
            }
        }
        let echoed = try await curl("-H", "Reachability-Challenge: abc", "http://[::1]/")
        #expect(echoed.hasPrefix("HTTP/1.1 204") && echoed.contains("Reachability-Response: abc"))
        secure.behave(.redirect(to: "https://elsewhere.example/"))
        #expect(
            try await curl("--cacert", roots, "https://127.0.0.1/x").contains("Location: https://elsewhere.example/")
        )
        #expect(secure.requests.count == 1 && secure.requests[0].hasPrefix("GET /x HTTP/1.1"))
        #expect(plain.requests.count == 1 && plain.connections == 1)
        await plain.close()
        await secure.close()
    }
}
