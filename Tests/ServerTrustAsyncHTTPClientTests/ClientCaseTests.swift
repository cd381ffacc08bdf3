import AsyncHTTPClient
import ServerTrust
import ServerTrustAsyncHTTPClient
import Testing

/// Real handshakes on the loopback.
@Suite(.timeLimit(.minutes(15))) struct ClientCaseTests {
    @Test(arguments: ClientCase.all, [true, false])
    func `the manager alone decides, with its reason`(case test: ClientCase, isHTTP2: Bool) async throws {
        try await check(test, isHTTP2: isHTTP2, .managerAlone)
    }

    @Test(arguments: ClientCase.all, [true, false])
    func `who passes the handshake must pass the manager`(case test: ClientCase, isHTTP2: Bool) async throws {
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
            // HTTP/2 begins with a preface and settings that are the same for everybody.
            #expect(isHTTP2 || seen.bytes == 0)
        }
    }
}
