import ServerTrust
import SwiftASN1
import Testing
import TrustForge
import X509

@testable import reachability_tools

/// The lines of `reachability pin`.
@Suite struct PinOutputTests {
    private func lines(_ server: JudgedServer, anchors: String = "root.pem") throws -> [String] {
        PinOutput(server: try ServerAddress("127.0.0.1:1"), shown: try server.shown(anchors), anchors: anchors).lines
    }

    @Test func `a server with an unknown root has no suggested backup`() throws {
        let text = """
            127.0.0.1:1: 2 certificates, TLS 1.3, not trusted by the anchors in stranger.pem: the issuer of Intermediate, CN=Root,O=Forge, is neither an anchor nor sent by the server
            leaf          CN=example.org,O=Forge
                          issued by CN=Intermediate,O=Forge, expires in 100 days, \(TrustWorld.ends)
                          \(TrustWorld.leaf.pin)
            intermediate  CN=Intermediate,O=Forge
                          issued by CN=Root,O=Forge, expires in 100 days, \(TrustWorld.ends)
                          \(TrustWorld.intermediate.pin)
            backup        none: only what is on a trusted chain can be suggested
            """
        #expect(try lines(JudgedServer(), anchors: "stranger.pem").joined(separator: "\n") == text)
    }

    @Test func `control characters of a certificate are escaped`() throws {
        let leaf = TrustWorld.server("\u{1b}[31m\n\u{202e}ok").signed(by: TrustWorld.intermediate)
        #expect(
            try lines(JudgedServer(leaf)).dropFirst().first == "leaf          CN=\\1b[31m\\0a\\e2\\80\\aeok,O=Forge"
        )
    }

    private static let names: [(UInt8, [UInt8], String)] = [
        (12, Array("B\u{fc}\u{1b}[2J".utf8), "B\u{fc}\\1b[2J"),
        (20, [0x42, 0xfc, 0x1b, 0x5b, 0x32, 0x4a, 0x9b], "B\u{fc}\\1b[2J\\c2\\9b"),
        (22, Array("Bu\u{7}".utf8), "Bu\\07"),
        (28, [0, 0, 0, 0x42, 0, 0, 0, 0xfc, 0, 1, 0xf6, 0, 0, 0, 0x20, 0x2e], "B\u{fc}\u{1f600}\\e2\\80\\ae"),
        (30, [0, 0x42, 0, 0xfc, 0x20, 0x2e], "B\u{fc}\\e2\\80\\ae"),
    ]

    @Test(arguments: names)
    func `names of every string type of X.509 are readable`(type: UInt8, bytes: [UInt8], text: String) async throws {
        let value = try ASN1Any(derEncoded: Encoded.node(type, bytes))
        let name = RelativeDistinguishedName.Attribute(type: .RDNAttributeType.commonName, value: value)
        let subject = DistinguishedName([RelativeDistinguishedName([name])])
        let leaf = TrustWorld.server("leaf").with(\.subject, subject).signed(by: TrustWorld.intermediate)
        let server = try JudgedServer(leaf)
        #expect(try lines(server).dropFirst().first == "leaf          CN=\(text)")
        // The reason has the same spelling.
        let past = try await server.judge(host: "127.0.0.1", at: TrustTime("2001-01-01"))
        #expect(past.lines.first?.contains("not trusted, \(text) ") == true)
    }
}
