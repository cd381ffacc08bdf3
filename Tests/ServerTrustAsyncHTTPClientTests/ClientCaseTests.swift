import AsyncHTTPClient
import ServerTrust
import ServerTrustAsyncHTTPClient
import Testing

/// Real handshakes on loopback.
@Suite(.timeLimit(.minutes(15))) struct ClientCaseTests {
    @Test(arguments: ClientCase.all, [true, false])
    func `with the manager alone each case has its verdict and reason`(
        case test: ClientCase,
        isHTTP2: Bool
    ) async throws {
        try await check(test, isHTTP2: isHTTP2, .managerAlone)
    }

    @Test(arguments: ClientCase.all, [true, false])
    func `a server must pass both the full handshake verification and the manager`(
        case test: ClientCase,
        isHTTP2: Bool
    ) async throws {
        try await check(test, isHTTP2: isHTTP2, .full())
    }

    private func check(_ test: ClientCase, isHTTP2: Bool, _ verification: HandshakeVerification) async throws {
        let server = try await TrustServer(test.chain, isHTTP2: isHTTP2)
        var client = TrustClient(isHTTP2: isHTTP2)
        client.manager = test.manager
        client.enforcement.handshakeVerification = verification
        client.enforcement.configuration.revocation = PlayedRevocation()
        let outcome = try await client.get(server.url())[0]
        try await server.close()

        let seen = server.seen
        if case .full = verification, test.isRefusedInHandshake {
            #expect(outcome == .refusedInHandshake)
            #expect(seen.requests.isEmpty && seen.bytes == 0)
            return
        }
        switch test.expected {
        case .trusted:
            #expect(outcome == .answered(isHTTP2 ? "HTTP/2.0" : "HTTP/1.1"))
            #expect(seen.requests.count == 1)
        case .refused(let reason):
            #expect(outcome == .refused(Forge.host, reason))
            #expect(seen.requests.isEmpty)
            // An HTTP/2 connection starts with a preface and settings that contain no data of the request.
            #expect(isHTTP2 || seen.bytes == 0)
        }
    }
}
