import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge
import WebLab

/// Handshakes that end only when a real responder, `openssl ocsp`, has been asked about the server's certificate.
@Suite(.enabled(if: Program.hasOpenSSL, "openssl is not installed"))
struct RevocationTests {
    private func verdict(
        _ statement: ResponderProgram.Statement,
        _ flags: RevocationFlags
    ) async throws -> TrustCase.Verdict? {
        let responder = try await ResponderProgram(saying: statement)
        let server = try ScriptedServer.greeting(responder.leaf)
        let fetcher = try HTTPRevocationFetcher(allowsLocalAddresses: true)
        let factory = try TrustClient.factory(
            TrustCase("") {
                $0.trust(responder.root)
                $0.evaluator = RevocationTrustEvaluator(options: flags)
            }
        ) { _, configuration in
            configuration.now = { .now }
            configuration.revocation = RevocationChecker(fetcher: fetcher)
        }
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        #expect((outcome.greeting == "hello") == (outcome.verdict == .trusted))
        server.stop()
        return outcome.verdict
    }

    @Test func good() async throws {
        let verdict = try await verdict(.good, [.any, .requirePositiveResponse])
        #expect(verdict == .trusted)
    }

    @Test(arguments: [RevocationFlags.any, [.any, .requirePositiveResponse]])
    func revoked(flags: RevocationFlags) async throws {
        let verdict = try await verdict(.revoked, flags)
        guard case .refused(.revoked(let subject, let detail)) = verdict else {
            Issue.record("\(String(describing: verdict))")
            return
        }
        #expect(subject == World.host)
        #expect(detail.reason == .keyCompromise)
    }

    @Test(arguments: [ResponderProgram.Statement.unknown, .nothing])
    func nobodyKnows(statement: ResponderProgram.Statement) async throws {
        let verdict = try await verdict(statement, [.any, .requirePositiveResponse])
        guard case .refused(.revocationUnknown(World.host, _)) = verdict else {
            Issue.record("\(String(describing: verdict))")
            return
        }
        #expect(try await self.verdict(statement, .any) == .trusted)
    }
}
