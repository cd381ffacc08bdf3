import NIOSSL
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab

/// The same verdicts where the server is nginx.
@Suite(.enabled(if: Program.hasNginx, "nginx is not installed; Scripts/fetch-servers gets it"))
struct NginxTests {
    private func outcome(
        _ chain: Forged...,
        options: [String] = [],
        clientAnchors: [Forged]? = nil,
        identity: TLSClientIdentity? = nil,
        host: String = World.host
    ) async throws -> TrustClient.Outcome {
        let server = try await NginxServer(chain, options, clientAnchors: clientAnchors)
        let factory = try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in settings.identity = identity }
        return try await TrustClient.connect(factory, host: host, port: server.port)
    }

    @Test func good() async throws {
        let outcome = try await outcome(World.leaf, World.intermediate)
        #expect(outcome.verdict == .trusted, "\(outcome)")
        #expect(try outcome.handshake.get().version == .tlsv12)
        #expect(outcome.greeting?.hasPrefix("HTTP/1.1 200") == true)
    }

    @Test func version13() async throws {
        let outcome = try await outcome(World.leaf, World.intermediate, options: ["ssl_protocols TLSv1.2 TLSv1.3;"])
        #expect(try outcome.handshake.get().version == .tlsv13)
    }

    @Test func missingIntermediate() async throws {
        let outcome = try await outcome(World.leaf)
        #expect(outcome.verdict == .refused(.unknownIssuer(subject: World.host, issuer: "CN=Intermediate,O=Forge")))
        #expect(outcome.greeting == nil)
    }

    @Test func wrongHost() async throws {
        let outcome = try await outcome(World.leaf, World.intermediate, host: "www.example.org")
        #expect(outcome.verdict == .refused(.hostMismatch(names: [World.host])))
    }

    @Test func onlyTLS11() async throws {
        let outcome = try await outcome(
            World.leaf,
            World.intermediate,
            options: ["ssl_protocols TLSv1.1;", "ssl_ciphers DEFAULT@SECLEVEL=0;"]
        )
        #expect(outcome.otherError is NIOSSLError, "\(outcome)")
    }

    @Test(arguments: ["TLSv1.2", "TLSv1.3"])
    func mutual(version: String) async throws {
        func status(_ identity: TLSClientIdentity?) async throws -> Substring? {
            try await outcome(
                World.leaf,
                World.intermediate,
                options: ["ssl_protocols \(version);", "ssl_verify_depth 3;"],
                clientAnchors: [ClientWorld.root],
                identity: identity
            ).greeting?.prefix(12)
        }
        #expect(try await status(ClientWorld.identity(ClientWorld.client, ClientWorld.intermediate)) == "HTTP/1.1 200")
        // It tells in HTTP what is wrong with the client's certificate, and which is missing.
        #expect(try await status(nil) == "HTTP/1.1 400")
        #expect(try await status(ClientWorld.identity(ClientWorld.stranger)) == "HTTP/1.1 400")
    }
}
