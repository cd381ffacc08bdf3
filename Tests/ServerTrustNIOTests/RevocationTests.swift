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
    private func verdict(_ response: ForgedResponse, _ flags: RevocationFlags) async throws -> String {
        let body = response.der()
        let responder = try ScriptedServer { _ in .ok(body) }
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

    @Test(arguments: [
        (ForgedResponse(), hard, "trusted"), (ForgedResponse.revoked(), hard, "revoked"),
        (ForgedResponse.revoked(), RevocationFlags.any, "revoked"),
    ])
    func `the responder decides about the handshake`(
        _ response: ForgedResponse,
        _ flags: RevocationFlags,
        _ expected: String
    ) async throws {
        #expect(try await verdict(response, flags) == expected)
    }
}
