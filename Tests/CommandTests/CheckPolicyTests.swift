import Foundation
import NetworkLab
import ServerTrust
import Testing
import TrustForge

/// `reachability check --policy`: what a server must show besides a valid certificate.
@Suite struct CheckPolicyTests {
    private static func pins(_ pins: PublicKeyPin..., more: String = "") -> String {
        let texts = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return "{\"hosts\": {\"**.org\": {\"policy\": \"pins\", \"pins\": [\(texts)]\(more)}}}"
    }

    private static let right = pins(TrustWorld.leaf.pin, TrustWorld.stranger.pin)
    private static let wrong = pins(TrustWorld.stranger.pin, World.rsaRoot.pin)
    private static let check =
        "check --json https://example.org:PORT/ --resolve example.org=127.0.0.1 --timeout 10s --policy"

    /// What the command says of the server with a policy.
    private static func run(_ policy: String, root: String = "root.pem") async throws -> CommandResult {
        let server = try await TLSServer.start()
        try server.directory.write("policy.json", policy)
        return try await server.run("\(check) policy.json", environment: "SSL_CERT_FILE=\(root)")
    }

    @Test func `the right pins`() async throws {
        let result = try await Self.run(Self.right)
        #expect(result.status == 0, "\(result)")
        #expect(result.output.contains("\"place\":\"works\"") && result.output.contains("\"verified\":true"))
    }

    @Test func `what was seen of the server is in the object, and what decided`() async throws {
        let result = try await Self.run(Self.right)
        let text = result.output.replacing(":PORT,", with: ":443,")
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let decisive = try #require((object?["decidedBy"] as? [[String: Any]])?.first)
        #expect(decisive["probe"] as? String == "http" && decisive["subject"] as? String == "target", "\(decisive)")
        #expect(decisive["tlsVersion"] as? String == "1.3" && decisive["status"] as? Int == 200)
        for key in ["retransmits", "lost", "pathMTU", "roundTripMicroseconds", "issuer", "cost", "phases"] {
            #expect(decisive.keys.contains(key), "\(key)")
        }
        #expect((object?["probes"] as? [[String: Any]])?.contains { $0["probe"] as? String == "http" } == true)
    }

    @Test func `the wrong pins`() async throws {
        let result = try await Self.run(Self.wrong)
        #expect(result.status == 17 && result.errors.isEmpty, "\(result)")
        #expect(result.output.contains("\"place\":\"tls\"") && result.output.contains("\"reason\":\"pinMismatch\""))
        #expect(result.output.contains("TLS with https://example.org:PORT/ fails: pinMismatch"))
    }

    @Test func `the wrong pins, only reported`() async throws {
        let policy = Self.pins(TrustWorld.stranger.pin, World.rsaRoot.pin, more: ", \"reportOnly\": true")
        #expect(try await Self.run(policy).status == 0)
    }

    @Test func `a host that the file does not have`() async throws {
        let other = Self.right.replacing("**.org", with: "**.net")
        let result = try await Self.run(other)
        #expect(result.status == 17 && result.output.contains("\"reason\":\"noPolicy\""), "\(result)")
        let open = other.replacing("{\"hosts\"", with: "{\"allHostsMustBeEvaluated\": false, \"hosts\"")
        #expect(try await Self.run(open).status == 0)
    }

    @Test func `other anchors than the system's`() async throws {
        let hosts = "\"hosts\": {\"example.org\": {\"policy\": \"default\"}}"
        let own = try await Self.run("{\"anchors\": [\"root.pem\"], \(hosts)}", root: "stranger.pem")
        #expect(own.status == 0, "\(own)")
        let foreign = try await Self.run("{\"anchors\": [\"stranger.pem\"], \(hosts)}")
        #expect(foreign.status == 17 && foreign.output.contains("\"reason\":\"untrusted\""), "\(foreign)")
    }

    @Test func `who trusts everybody has proven nothing`() async throws {
        let policy = "{\"hosts\": {\"example.org\": {\"policy\": \"disabled\"}}}"
        let result = try await Self.run(policy, root: "stranger.pem")
        #expect(result.status == 0 && result.output.contains("\"verified\":false"), "\(result)")
    }

    @Test(arguments: [
        ("{\"hosts\": {}, \"more\": 1}", 65, "policy.json:1:15: "),
        ("{\"hosts\": {\"example.org\": {\"policy\": \"pins\", \"pins\": [\"sha256/x\"]}}}", 65, "policy.json:1:"),
        ("{\"anchors\": [\"nowhere.pem\"], \"hosts\": {}}", 66, "nowhere.pem"),
    ])
    func `a file that is wrong`(policy: String, status: Int, words: String) async throws {
        let result = try await Self.run(policy)
        #expect(Int(result.status) == status && result.output.isEmpty && result.errors.contains(words), "\(result)")
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func `a file that is not there`() async throws {
        let result = try await Command.run(["check", "--policy", "/nowhere/policy.json"])
        #expect(result.status == 66 && result.errors.contains("cannot read the policy file /nowhere/policy.json"))
    }
}
