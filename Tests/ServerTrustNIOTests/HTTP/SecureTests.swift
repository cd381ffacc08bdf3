import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import Testing
import TrustForge

/// Servers with TLS. Only a trusted server receives the request.
@Suite struct SecureTests {
    @Test func `a trusted server receives the request`() async throws {
        try await withServer(.ok(), tls: try HTTPWorld.serverContext()) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()))
            #expect(response.text == "hello")
            let handshake = try #require(response.handshake)
            #expect(handshake.version == .tlsv13)
            #expect(handshake.trust.leaf == HTTPWorld.leaf.certificate)
            await server.waitUntilClosed(1)
        }
    }

    @Test func `a body in many TLS records is received whole`() async throws {
        let body = (0..<900_000).map { UInt8(truncatingIfNeeded: $0) }
        try await withServer(.ok(body), tls: try HTTPWorld.serverContext()) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()))
            #expect(response.body == body)
        }
    }

    @Test(arguments: [([HTTPWorld.leaf], "unknownIssuer"), ([World.leaf, World.intermediate], "hostMismatch")])
    func `a server that is not trusted receives nothing, and the error has the reason`(
        chain: [Forged],
        reason: String
    ) async throws {
        try await withServer(.ok(), tls: try HTTPWorld.serverContext(chain)) { server in
            let failure = try await HTTPWorld.failure(of: server.url("/a"))
            #expect(failure.name == "untrusted: \(reason)")
            #expect("\(failure)".hasPrefix("the server of 127.0.0.1 is not trusted: "))
            #expect(server.requests.isEmpty)
            await server.waitUntilClosed(1)
        }
    }

    @Test(arguments: ["HTTP/1.1 400 Bad\r\n\r\n", "\u{16}\u{3}\u{1}", "garbage garbage garbage"])
    func `a server without TLS is an error`(_ text: String) async throws {
        let server = try ScriptedServer.greeting(text)
        switch try await HTTPWorld.failure(of: "https://127.0.0.1:\(server.port)/") {
        case .handshakeFailed(let cause): #expect(["wrong version number", "it closed the connection"].contains(cause))
        case .connectionClosed(.handshake): break
        case let other: Issue.record("\(other)")
        }
        server.stop()
    }

    @Test func `a response without a length is incomplete if close_notify is missing`() async throws {
        // The body ends with the connection. Without TLS's close_notify it may be truncated.
        let reply = Reply("HTTP/1.1 200 OK\r\n\r\nhalf", then: .cut)
        try await withServer(reply, tls: try HTTPWorld.serverContext()) { server in
            let failure = try await HTTPWorld.failure(of: server.url())
            #expect(failure == .connectionClosed(.body))
        }
    }

    @Test func `a response without a length is complete if close_notify is received`() async throws {
        let tls = try HTTPWorld.serverContext()
        try await withServer(Reply("HTTP/1.1 200 OK\r\n\r\nwhole", then: .close), tls: tls) { server in
            let response = try await HTTPWorld.client().execute(TrustedHTTPRequest(server.url()))
            #expect(response.text == "whole")
        }
    }
}
