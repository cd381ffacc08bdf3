import LinuxSupport
import NetworkReachability
import ServerTrustNIO
import Testing
import WebLab

@testable import ReachabilityChecks

/// Targets that require only a handshake, and targets with an expected status.
@Suite struct HandshakeTests {
    @Test func `a valid certificate is sufficient, regardless of the later answer`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, identity: .good(for: WebWorld.host), .silentRequest)
        let result = try await world.fetch(server, .handshake, isSecure: true)
        #expect(result.outcome == .answered && result.request.kind == .tls && result.isVerified, "\(result)")
        #expect(Set(result.phases.keys) == [.connect, .tls])
        // No request was sent.
        #expect(server.requests.isEmpty)
        await server.close()
    }

    @Test func `an invalid certificate has its reason`() async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, identity: .expired(for: WebWorld.host))
        let result = try await world.fetch(server, .handshake, isSecure: true)
        #expect(result.outcome == .invalid(.expired) && result.request.kind == .tls, "\(result)")
        await server.close()
    }

    @Test(arguments: [(200, true), (204, true), (299, true), (302, false), (404, false), (503, false)])
    func `a status outside the expected range is a fault`(status: Int, isExpected: Bool) async throws {
        let world = try await WebWorld()
        defer { world.close() }
        let server = try await WebServer(in: world.namespace, .answer(status))
        guard let address = IPAddress("127.0.0.1") else { return }
        let url = try TrustedHTTPURL("http://\(WebWorld.host):\(server.port)/")
        var exchange = WebExchange()
        exchange.expectedStatus = 200...299
        let result = try await world.prober(to: "127.0.0.1")
            .fetch(.target, WebRequest(url, exchange), at: address, limit: .seconds(60))
        #expect(result.outcome == (isExpected ? .answered : .invalid(.statusNotExpected)), "\(result)")
        await server.close()
    }
}
