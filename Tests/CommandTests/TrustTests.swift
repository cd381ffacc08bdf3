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

    @Test func `without a policy a valid chain and the host`() async throws {
        let server = try await TLSServer.start()
        let text = """
            example.org:PORT: trusted
            \(Self.good)ok      policy        no policy file: a valid chain, and the host

            """
        let result = try await server.run("trust example.org:PORT --connect-to 127.0.0.1")
        #expect(result == CommandResult(status: 0, output: text, errors: ""))
    }

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
    }

    @Test(arguments: [
        (", \"reportOnly\": true", "otherwise it is only reported"),
        (", \"expires\": \"2026-01-01\"", "until 2026-01-01T00:00:00Z"),
    ])
    func `the wrong pins, only reported`(option: String, summary: String) async throws {
        let server = try await TLSServer.start()
        let result = try await server.trust(Self.pins(Self.wrong, option))
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(result.lines.first == "example.org:443: trusted")
        let text =
            "none of the pins is on the chain, and that is only reported: one of the pins (2) is on the chain, \(summary)"
        #expect(result.lines.last.map(String.init) == "note    pins          \(text)")
    }

    @Test func `expired, and for another time`() async throws {
        let leaf = TrustWorld.server("example.org").with(\.ends, TrustWorld.past).with(\.begins, World.begins)
        let server = try await TLSServer.start(leaf.signed(by: TrustWorld.intermediate))
        let expired = "example.org has expired, it was valid until \(TrustWorld.past)"
        let now = try await server.run("trust example.org --connect-to 127.0.0.1:PORT")
        #expect(now.status == 1)
        #expect(now.lines.first.map(String.init) == "example.org:443: not trusted, \(expired)")
        #expect(now.lines.contains { $0 == "failed  chain         \(expired)" })
        #expect(now.lines.contains { $0 == "ok      host          the certificate is for example.org" })

        let later = TrustWorld.ends.advanced(by: .seconds(1))
        let good = try await TLSServer.start()
        let future = try await good.run("trust example.org --connect-to 127.0.0.1:PORT --at \(later)")
        #expect(future.status == 1)
        #expect(future.lines.contains { $0 == "note    time          judged for \(later)" })
        try await good.run("trust example.org --at tomorrow").expectRefusal(
            "\"tomorrow\" is no time: write 2027-11-01 or 2027-11-01T12:00:00Z, in Universal Time"
        )
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

    @Test func `the wrong host`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.run("trust example.com --connect-to 127.0.0.1:PORT")
        let reason = "the certificate is for example.org, xn--bcher-kva.example, 127.0.0.1, ::1"
        #expect(result.status == 1)
        #expect(result.lines.first.map(String.init) == "example.com:443: not trusted, \(reason)")
        #expect(result.lines.contains { $0 == "failed  host          \(reason)" })
    }

    @Test func `a host without a policy`() async throws {
        let server = try await TLSServer.start()
        let policy = "{\"hosts\": {\"example.com\": {\"policy\": \"default\"}}}"
        let refused = try await server.trust(policy)
        #expect(refused.status == 1)
        #expect(
            refused.lines.first
                == "example.org:443: not trusted, no evaluator is set for the host, and all hosts must be evaluated"
        )
        let sentence = "none for the host in policy.json, and allHostsMustBeEvaluated is true"
        #expect(refused.lines.last.map(String.init) == "failed  policy        \(sentence)")
        let allowed = try await server.trust(
            policy.replacing("{\"hosts\"", with: "{\"allHostsMustBeEvaluated\": false, \"hosts\"")
        )
        #expect(allowed.status == 0)
        #expect(
            allowed.lines.last == "ok      policy        none for the host in policy.json: a valid chain, and the host"
        )
    }

    @Test(arguments: ["bücher.example", "xn--bcher-kva.example", "BÜCHER.example.", "[::1]", "127.0.0.1"])
    func `hosts in every form`(host: String) async throws {
        let server = try await TLSServer.start()
        let policy =
            "{\"hosts\": {\"bücher.example\": {\"policy\": \"default\"}, \"::1\": {\"policy\": \"default\"}, \"127.0.0.1\": {\"policy\": \"default\"}}}"
        let result = try await server.trust(policy, host: "'\(host)'")
        #expect(result.status == 0)
        #expect(result.lines.first.map(String.init) == "\(host):443: trusted")
    }

    @Test func `everybody is trusted, and it is said`() async throws {
        let strange = Blueprint.leaf("stranger").signed()
        let server = try await TLSServer.start(strange)
        let result = try await server.trust(
            "{\"hosts\": {\"example.com\": {\"policy\": \"disabled\"}}}",
            host: "example.com"
        )
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(result.lines.contains { $0.hasPrefix("note    chain         ") })
        #expect(result.lines.contains { $0.hasPrefix("note    host          ") })
        #expect(result.lines.last == "note    disabled      anybody is trusted")
    }

    @Test func `several policies, each told of`() async throws {
        let server = try await TLSServer.start()
        let policy = """
            {"hosts": {"example.org": [
              {"policy": "revocation", "flags": ["ocsp", "networkAccessDisabled", "requirePositiveResponse"]},
              {"policy": "certificates", "files": ["leaf.pem"]}, {"policy": "publicKeys", "files": ["stranger.pem"]}
            ]}}
            """
        let result = try await server.trust(policy)
        #expect(result.status == 1)
        let lines = result.lines.suffix(4).map(String.init)
        #expect(lines[0].hasPrefix("failed  revocation    whether example.org is revoked is not known: "))
        #expect(lines[1].hasPrefix("note    revocation    not known of Intermediate: "))
        #expect(lines[2] == "ok      certificates  one of the pinned certificates (1) is on the chain")
        #expect(lines[3] == "failed  publicKeys    neither example.org nor an authority above it is pinned")
    }

    @Test func `a list that the policy file names revokes`() async throws {
        let server = try await TLSServer.start()
        var list = ForgedList(issuer: TrustWorld.intermediate)
        let policy = """
            {"revocationLists": ["list.pem"],
             "hosts": {"example.org": {"policy": "revocation", "flags": ["crl", "networkAccessDisabled"]}}}
            """
        try server.directory.write("list.pem", list.pem(at: .now))
        let good = try await server.trust(policy)
        #expect(good.status == 0)
        let last: Substring = "ok      revocation    nobody says that anything is revoked (crl networkAccessDisabled)"
        #expect(good.lines.suffix(2).first == last)
        #expect(good.lines.last?.hasPrefix("note    revocation    not known of Intermediate: ") == true)
        list.revoke(TrustWorld.leaf)
        try server.directory.write("list.pem", list.pem(at: .now))
        let revoked = try await server.trust(policy)
        #expect(revoked.status == 1)
        #expect(revoked.lines.first?.hasPrefix("example.org:443: not trusted, example.org is revoked ") == true)
        #expect(revoked.lines.last?.hasPrefix("failed  revocation    example.org is revoked ") == true)
    }

    @Test func `why revocation is not known, of each certificate`() async throws {
        let url = "http://127.0.0.1:1/ocsp"
        var leaf = TrustWorld.server("example.org")
        leaf.more = RevocationWorld.extensions(responders: [url, "http://[::ffff:127.0.0.1]:1/"])
        let server = try await TLSServer.start(leaf.signed(by: TrustWorld.intermediate))
        let policy = "{\"hosts\": {\"example.org\": {\"policy\": \"revocation\"}}}"
        let soft = try await server.trust(policy)
        #expect(soft.status == 0)
        let lines = soft.lines.suffix(3).map(String.init)
        #expect(lines[0].hasPrefix("ok      revocation    nobody says that anything is revoked"))
        #expect(lines[1].hasPrefix("note    revocation    not known of example.org: the responder \(url) "))
        #expect(lines[1].contains("it is a loopback, link-local or multicast address"))
        #expect(lines[1].contains("; the responder http://[::ffff:127.0.0.1]:1/ "))
        let nobody = "not known of Intermediate: the certificate names nobody to ask, and no list is set"
        #expect(lines[2] == "note    revocation    \(nobody)")
        let json = try await server.trust(policy, options: "--json")
        #expect(json.output.contains("{\"check\":\"revocation\",\"state\":\"note\",\"text\":\"\(nobody)\"}"))

        let flags = "\"flags\": [\"ocsp\", \"requirePositiveResponse\"]"
        let hard = try await server.trust(policy.replacing("\"revocation\"", with: "\"revocation\", \(flags)"))
        #expect(hard.status == 1)
        let two = hard.lines.suffix(2).map(String.init)
        #expect(two[0].hasPrefix("failed  revocation    whether example.org is revoked is not known: the responder "))
        #expect(two[1] == "note    revocation    \(nobody)")
    }

    @Test func `JSON`() async throws {
        let server = try await TLSServer.start()
        let result = try await server.trust(Self.pins(Self.wrong), options: "--json")
        #expect(result.status == 1)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        )
        #expect(object["schema"] as? Int == 1)
        #expect(object["trusted"] as? Bool == false)
        #expect(object["reason"] as? String == "pinMismatch")
        #expect(object["text"] as? String == Self.mismatch)
        #expect(object["policy"] as? String == "**.org")
        #expect(object["host"] as? String == "example.org")
        #expect(object["port"] as? Int == 443)
        #expect((object["certificates"] as? [[String: Any]])?.count == 3)
        let checks = try #require(object["checks"] as? [[String: String]])
        #expect(checks.map { $0["check"] } == ["server", "chain", "host", "policy", "pins"])
        #expect(checks.map { $0["state"] } == ["ok", "ok", "ok", "ok", "failed"])
    }

    @Test func `reasons without details have names in JSON too`() async throws {
        let server = try await TLSServer.start()
        let none = try await server.trust("{\"hosts\": {}}", options: "--json")
        #expect(none.output.contains("\"reason\":\"noEvaluator\""))
        let empty = "{\"hosts\": {\"example.org\": {\"policy\": \"certificates\", \"files\": []}}}"
        #expect(try await server.trust(empty, options: "--json").output.contains("\"reason\":\"noPins\""))
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
        // What a stranger wrote into it is shown, not done.
        try await server.trust("{\"hosts\": {\"\u{1b}[2J\": 1}}")
            .expectRefusal("policy.json:1:13: a text ends on the line it begins on", status: 65)
    }

    @Test func `a server that is silent`() async throws {
        let listener = try ScriptedServer { _ in .silence }
        let destination = "127.0.0.1:\(listener.port)"
        try await Command.run(["trust", "example.org", "--connect-to", destination, "--time-limit", "300ms"])
            .expectRefusal(
                "waited 300ms for example.org:443 to be judged: give more time with --time-limit",
                status: 75
            )
    }
}
