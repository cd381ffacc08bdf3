import Foundation
import NetworkLab
import ServerTrust
import Testing
import TrustForge

/// `reachability trust`: verdicts, reasons and exit statuses.
@Suite struct TrustTests {
    private static let good = """
        leaf          CN=example.org,O=Forge
                      issued by CN=Intermediate,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.leaf.pin)
        intermediate  CN=Intermediate,O=Forge
                      issued by CN=Root,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.intermediate.pin)
        root          CN=Root,O=Forge, not sent
                      issued by itself, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.root.pin)
        ok      server        127.0.0.1:PORT, TLS 1.3
        ok      chain         to the anchor Root, valid until \(TrustWorld.ends)
        ok      host          the certificate is for example.org

        """

    private static func pins(_ pins: [PublicKeyPin], _ more: String = "") -> String {
        let texts = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return "{\"hosts\": {\"**.org\": {\"policy\": \"pins\", \"pins\": [\(texts)]\(more)}}}"
    }

    private static let wrong = [TrustWorld.stranger.pin, World.rsaRoot.pin]
    private static let mismatch =
        "none of the pins is on the chain, which has \(TrustWorld.leaf.pin), \(TrustWorld.intermediate.pin),"
        + " \(TrustWorld.root.pin)"

    @Test func `the right pins`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.trust(Self.pins([TrustWorld.leaf.pin, TrustWorld.stranger.pin]))
        let text = """
            example.org:443: trusted
            \(Self.good)ok      policy        **.org in policy.json
            ok      pins          one of the pins (2) is on the chain

            """
        #expect(result == CommandResult(status: 0, output: text, errors: ""))
    }

    @Test func `the wrong pins`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.trust(Self.pins(Self.wrong))
        let text = """
            example.org:443: not trusted, \(Self.mismatch)
            \(Self.good)ok      policy        **.org in policy.json
            failed  pins          \(Self.mismatch)

            """
        #expect(result == CommandResult(status: 1, output: text, errors: ""))
        let json = try await server.trust(Self.pins(Self.wrong), options: "--json")
        #expect(json.status == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(object["schema"] as? Int == 1 && object["trusted"] as? Bool == false)
        #expect(object["reason"] as? String == "pinMismatch" && object["text"] as? String == Self.mismatch)
        #expect(object["policy"] as? String == "**.org")
        #expect(object["host"] as? String == "example.org" && object["port"] as? Int == 443)
        #expect((object["certificates"] as? [[String: Any]])?.count == 3)
        let checks = try #require(object["checks"] as? [[String: String]])
        #expect(checks.map { $0["check"] } == ["server", "chain", "host", "policy", "pins"])
        #expect(checks.map { $0["state"] } == ["ok", "ok", "ok", "ok", "failed"])
    }

    @Test func `a root that nobody knows`() async throws {
        let server = try await TLSServer.start()
        let arguments = "trust example.org --connect-to 127.0.0.1:PORT"
        let strange = try await server.run(arguments, environment: "SSL_CERT_FILE=stranger.pem")
        let reason = "the issuer of Intermediate, CN=Root,O=Forge, is neither an anchor nor sent by the server"
        #expect(strange.status == 1)
        #expect(strange.lines.first.map(String.init) == "example.org:443: not trusted, \(reason)")
        let none = try await server.run(arguments, environment: "SSL_CERT_FILE=/dev/null")
        #expect(none.status == 1)
        #expect(
            none.lines.first?.contains("not trusted, there are no anchors: no certificate was found in /dev/null")
                == true
        )
        let own = "{\"anchors\": [\"root.pem\"], \"hosts\": {\"example.org\": {\"policy\": \"default\"}}}"
        #expect(try await server.trust(own).status == 0)
    }

    @Test func `a certificate that cannot be used is not trusted`() async throws {
        let leaf = TrustWorld.server("example.org").with(\.key, .rsa1024).signed(by: TrustWorld.intermediate)
        let server = try await TLSServer.start(leaf, options: ["-cipher", "DEFAULT:@SECLEVEL=0"])
        let arguments = "trust example.org --connect-to 127.0.0.1:PORT"
        let result = try await server.run(arguments)
        #expect(result.status == 1)
        let reason = "the key of the server's certificate has 1024 bits, which are too few"
        #expect(result.lines.first.map(String.init) == "example.org:443: not trusted, \(reason)")
        #expect(result.lines.last.map(String.init) == "failed  chain         \(reason)")
        #expect(try await server.run(arguments + " --json").output.contains("\"reason\":\"weakKey\""))
        try await server.run("pin 127.0.0.1:PORT").expectRefusal("cannot pin 127.0.0.1:PORT: \(reason)", status: 69)
    }

    @Test func `a policy file that cannot be read, or is wrong`() async throws {
        let server = try await TLSServer.start()
        try await server.run("trust example.org --policy none.json")
            .expectRefusal("cannot read the policy file none.json: No such file or directory", status: 66)
        try await server.trust("{\"hosts\": {\"example.org\": {\"policy\": \"pinned\"}}}").expectRefusal(
            "policy.json:1:38: there is no such policy: \"policy\" is one of default, revocation, certificates, publicKeys, pins, disabled",
            status: 65
        )
        try await server.trust("{\"hosts\": {}, \"anchors\": [\"none.pem\"]}").expectRefusal(
            "policy.json:1:27: cannot read certificates from none.pem: No such file or directory",
            status: 66
        )
        try await server.run("trust example.org --at tomorrow").expectRefusal(
            "\"tomorrow\" is no time: write 2027-11-01 or 2027-11-01T12:00:00Z, in Universal Time"
        )
        // What a stranger wrote into it is shown, not done.
        try await server.trust("{\"hosts\": {\"\u{1b}[2J\": 1}}")
            .expectRefusal("policy.json:1:13: a text ends on the line it begins on", status: 65)
    }
}
