import NIOSSL
import NetworkLab
import ServerTrust
import ServerTrustNIO
import SwiftASN1
import Testing
import TrustForge
import X509

/// Server Name Indication and protocol negotiation.
@Suite struct HostTests {
    /// Each host, and its name in the certificate and in Server Name Indication.
    @Test(arguments: [
        ("example.org", "example.org"), ("Example.ORG.", "example.org"), ("bücher.example", "xn--bcher-kva.example"),
        ("xn--BCHER-kva.example", "xn--bcher-kva.example"), ("my_host.example.org", "my_host.example.org"),
    ])
    func `the canonical host is sent as server name`(host: String, serverName: String) async throws {
        let server = try ScriptedServer.greeting(World.leaf(names: [.dnsName(serverName)]), World.intermediate)
        let factory = try TrustClient.factory(TrustCase("") { _ in })
        #expect(try await TrustClient.connect(factory, host: host, port: server.port).verdict == .trusted)
        #expect(server.visits.map(\.serverName) == [serverName])
        server.stop()
    }

    @Test(arguments: ["127.0.0.1", "::1", "[::1]", "::1%lo"])
    func `an address is not sent as server name`(host: String) async throws {
        let bytes: [UInt8] = host.contains(":") ? Array(repeating: 0, count: 15) + [1] : [127, 0, 0, 1]
        let address = GeneralName.ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        let server = try ScriptedServer.greeting(World.leaf(names: [address]), World.intermediate)
        let factory = try TrustClient.factory(TrustCase("") { _ in })
        let outcome = try await TrustClient.connect(factory, host: host, port: server.port)
        #expect(outcome.verdict == .trusted)
        #expect(try outcome.handshake.get().host == host)
        #expect(server.visits.map(\.serverName) == [nil])
        server.stop()
    }

    @Test(arguments: ["", "exa mple.org", "127.1", "example.org:443", "a\0b"])
    func `an invalid host is refused before the handshake`(host: String) async throws {
        let factory = try TrustClient.factory(TrustCase("") { _ in })
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate)
        await #expect(throws: ServerTrustError(reason: .invalidHost(host), host: host)) {
            _ = try await TrustClient.connect(factory, host: host, port: server.port)
        }
        #expect(server.visits.allSatisfy { $0.serverName == nil && !$0.isSecure })
        server.stop()
    }

    @Test(
        arguments: [
            (["h2", "http/1.1"], ["http/1.1"], "http/1.1"), (["h2", "http/1.1"], ["http/1.1", "h2"], "http/1.1"),
            (["h2"], ["http/1.1"], nil), ([], ["h2"], nil), (["h2"], [], nil),
        ] as [([String], [String], String?)]
    )
    func `an application protocol is negotiated`(offered: [String], known: [String], agreed: String?) async throws {
        let server = try ScriptedServer.greeting(World.leaf, World.intermediate, protocols: known)
        let factory = try TrustClient.factory(TrustCase("") { _ in }) { settings, _ in
            settings.applicationProtocols = offered
        }
        let handshake = try await TrustClient.connect(factory, host: World.host, port: server.port).handshake.get()
        #expect(handshake.applicationProtocol == agreed)
        #expect(handshake.trust.certificates.map(\.derRepresentation) == [World.leaf.der, World.intermediate.der])
        server.stop()
    }
}
