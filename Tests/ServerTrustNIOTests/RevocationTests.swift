import NetworkLab
import ServerTrust
import ServerTrustNIO
import TestSupport
import Testing
import TrustForge
import WebLab

/// Handshakes that end only after a responder was queried for the status of the server's certificate.
@Suite struct RevocationTests {
    /// Returns `trusted`, or the name of the reason.
    private func verdict(_ status: ForgedResponse.Status?, _ flags: RevocationFlags) async throws -> String {
        var response = ForgedResponse()
        response.statuses = [status].compactMap { $0 }
        let body = response.der()
        let responder = try status == nil ? ScriptedServer.unreachable(.closed) : ScriptedServer { _ in .ok(body) }
        let server = try ScriptedServer.greeting(RevocationWorld.leaf(responders: [responder.url()]))
        let fetcher = try HTTPRevocationFetcher(allowsLocalAddresses: true)
        let factory = try TrustClient.factory(
            TrustCase("") {
                $0.trust(RevocationWorld.authority)
                $0.evaluator = RevocationTrustEvaluator(options: flags)
            }
        ) { _, configuration in configuration.revocation = RevocationChecker(fetcher: fetcher) }
        let outcome = try await TrustClient.connect(factory, host: World.host, port: server.port)
        #expect((outcome.greeting == "hello") == (outcome.verdict == .trusted))
        server.stop()
        responder.stop()
        guard case .refused(let reason) = outcome.verdict else { return caseName(outcome.verdict) }
        return caseName(reason)
    }

    private static let hard: RevocationFlags = [.any, .requirePositiveResponse]

    @Test func `a good certificate is trusted with hard fail`() async throws {
        #expect(try await verdict(.good, Self.hard) == "trusted")
    }

    @Test(arguments: [RevocationFlags.any, hard])
    func `a revoked certificate is refused with soft and hard fail`(flags: RevocationFlags) async throws {
        #expect(try await verdict(.revoked(.seconds(-86_400), reason: 1), flags) == "revoked")
    }

    @Test(arguments: [ForgedResponse.Status.unknown, nil])
    func `an unknown status is refused only with hard fail`(status: ForgedResponse.Status?) async throws {
        #expect(try await verdict(status, Self.hard) == "revocationUnknown")
        #expect(try await verdict(status, .any) == "trusted")
    }
}
