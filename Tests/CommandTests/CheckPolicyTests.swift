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
    private static let open = right.replacing("{\"hosts\"", with: "{\"allHostsMustBeEvaluated\": false, \"hosts\"")
    private static let hosts = "\"hosts\": {\"example.org\": {\"policy\": \"default\"}}"

    /// A policy, the file of the system's roots, the exit status, and texts of the output.
    private static let cases: [(policy: String, roots: String, status: CInt, words: [String])] = [
        (
            pins(TrustWorld.stranger.pin, World.rsaRoot.pin), "root", 17,
            ["\"place\":\"tls\"", "\"reason\":\"pinMismatch\""]
        ),
        (pins(TrustWorld.stranger.pin, World.rsaRoot.pin, more: ", \"reportOnly\": true"), "root", 0, []),
        (right.replacing("**.org", with: "**.net"), "root", 17, ["\"reason\":\"noPolicy\""]),
        (open.replacing("**.org", with: "**.net"), "root", 0, []),
        ("{\"anchors\": [\"root.pem\"], \(hosts)}", "stranger", 0, []),
        ("{\"anchors\": [\"stranger.pem\"], \(hosts)}", "root", 17, ["\"reason\":\"untrusted\""]),
        ("{\"hosts\": {\"example.org\": {\"policy\": \"disabled\"}}}", "stranger", 0, ["\"verified\":false"]),
        ("{\"hosts\": {}, \"more\": 1}", "root", 65, []),
    ]

    @Test func `a policy decides besides the certificate, and a wrong file is refused`() async throws {
        let server = try await TLSServer.start()
        func run(_ policy: String, roots: String = "root") async throws -> CommandResult {
            try server.directory.write("policy.json", policy)
            let check = "check --json https://example.org:PORT/ --resolve example.org=127.0.0.1 --timeout 60s"
            return try await server.run("\(check) --policy policy.json", environment: "SSL_CERT_FILE=\(roots).pem")
        }
        for (policy, roots, status, words) in Self.cases {
            let result = try await run(policy, roots: roots)
            #expect(result.status == status && (status != 65 || !result.errors.isEmpty), "\(policy): \(result)")
            for word in words { #expect(result.output.contains(word), "\(policy): \(result)") }
        }
        let result = try await run(Self.right)
        #expect(result.status == 0 && result.output.contains("\"place\":\"works\""), "\(result)")
        let text = result.output.replacing(":PORT,", with: ":443,")
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let decisive = try #require((object?["decidedBy"] as? [[String: Any]])?.first)
        #expect(decisive["probe"] as? String == "http" && decisive["subject"] as? String == "target", "\(decisive)")
        #expect(decisive["tlsVersion"] as? String == "1.3" && decisive["status"] as? Int == 200)
        for key in ["retransmits", "lost", "pathMTU", "roundTripMicroseconds", "issuer", "cost", "phases"] {
            #expect(decisive.keys.contains(key), "\(key)")
        }
        #expect((object?["probes"] as? [[String: Any]])?.contains { $0["probe"] as? String == "http" } == true)
        let missing = try await Command.run(["check", "--policy", "/nowhere/policy.json"])
        #expect(missing.status == 66 && missing.errors.contains("cannot read the policy file /nowhere/policy.json"))
    }
}
