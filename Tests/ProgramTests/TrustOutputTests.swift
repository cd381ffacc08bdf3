import LinuxSupport
import ServerTrust
import SwiftASN1
import Testing
import TrustForge
import X509

@testable import reachability_tools

/// The lines of `reachability trust`.
@Suite struct TrustOutputTests {
    private static let good = """
        leaf          CN=example.org,O=Forge
                      issued by CN=Intermediate,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.leaf.pin)
        intermediate  CN=Intermediate,O=Forge
                      issued by CN=Root,O=Forge, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.intermediate.pin)
        root          CN=Root,O=Forge, not sent
                      self-issued, expires in 100 days, \(TrustWorld.ends)
                      \(TrustWorld.root.pin)
        ok      server        127.0.0.1:1, TLS 1.3
        ok      chain         to the anchor Root, valid until \(TrustWorld.ends)
        ok      host          the certificate is for example.org
        """

    private static func pins(_ pins: [PublicKeyPin], _ more: String = "") -> String {
        let texts = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return "{\"hosts\": {\"**.org\": {\"policy\": \"pins\", \"pins\": [\(texts)]\(more)}}}"
    }

    private static let wrong = [TrustWorld.stranger.pin, World.rsaRoot.pin]

    @Test func `without a policy file the chain and the host decide`() async throws {
        let judged = try await JudgedServer().judge()
        let end = "ok      policy        no policy file: a valid chain and the name are required"
        #expect(judged.isTrusted)
        #expect(judged.lines.joined(separator: "\n") == "example.org:443: trusted\n\(Self.good)\n\(end)")
    }

    @Test(arguments: [
        (", \"reportOnly\": true", "a mismatch is only reported"),
        (", \"expires\": \"2026-01-01\"", "enforced until 2026-01-01T00:00:00Z"),
    ])
    func `pins that only report do not decide`(option: String, summary: String) async throws {
        let judged = try await JudgedServer().judge(Self.pins(Self.wrong, option))
        #expect(judged.isTrusted && judged.lines.first == "example.org:443: trusted")
        let text =
            "no pin matches the chain, which is only reported: one of the pins (2) is on the chain, \(summary)"
        #expect(judged.lines.last == "note    pins          \(text)")
    }

    @Test func `an expired certificate is not trusted, and another time can be chosen`() async throws {
        let leaf = TrustWorld.server("example.org").with(\.ends, TrustWorld.past).with(\.begins, World.begins)
        let expired = "example.org has expired, it was valid until \(TrustWorld.past)"
        let now = try await JudgedServer(leaf.signed(by: TrustWorld.intermediate)).judge()
        #expect(!now.isTrusted && now.lines.first == "example.org:443: not trusted, \(expired)")
        #expect(now.lines.contains("failed  chain         \(expired)"))
        #expect(now.lines.contains("ok      host          the certificate is for example.org"))
        let later = TrustWorld.ends.advanced(by: .seconds(1))
        let future = try await JudgedServer().judge(at: later)
        #expect(!future.isTrusted && future.lines.contains("note    time          evaluated for \(later)"))
    }

    @Test func `an unknown root is not trusted, except with anchors of the policy file`() async throws {
        let server = try JudgedServer()
        let strange = try await server.judge(anchors: "stranger.pem")
        let reason = "the issuer of Intermediate, CN=Root,O=Forge, is neither an anchor nor sent by the server"
        #expect(strange.lines.first == "example.org:443: not trusted, \(reason)")
        let own = "{\"anchors\": [\"root.pem\"], \"hosts\": {\"example.org\": {\"policy\": \"default\"}}}"
        #expect(try await server.judge(own, anchors: nil).isTrusted)
    }

    @Test func `a certificate for another host is not trusted`() async throws {
        let judged = try await JudgedServer().judge(host: "example.com")
        let reason = "the certificate is for example.org, xn--bcher-kva.example, 127.0.0.1, ::1"
        #expect(judged.lines.first == "example.com:443: not trusted, \(reason)")
        #expect(judged.lines.contains("failed  host          \(reason)"))
    }

    @Test func `a host without a policy is refused, unless the file allows other hosts`() async throws {
        let policy = "{\"hosts\": {\"example.com\": {\"policy\": \"default\"}}}"
        let refused = try await JudgedServer().judge(policy)
        let reason = "no evaluator is set for the host, and all hosts must be evaluated"
        #expect(refused.lines.first == "example.org:443: not trusted, \(reason)")
        let sentence = "no entry for the host in DIR/policy.json, and allHostsMustBeEvaluated is true"
        #expect(refused.lines.last == "failed  policy        \(sentence)")
        let open = policy.replacing("{\"hosts\"", with: "{\"allHostsMustBeEvaluated\": false, \"hosts\"")
        let allowed = try await JudgedServer().judge(open)
        let end =
            "ok      policy        no entry for the host in DIR/policy.json: a valid chain and the name are required"
        #expect(allowed.isTrusted && allowed.lines.last == end)
    }

    @Test(arguments: ["bücher.example", "xn--bcher-kva.example", "BÜCHER.example.", "[::1]", "127.0.0.1"])
    func `a policy applies to every spelling of its host`(host: String) async throws {
        let hosts = ["bücher.example", "::1", "127.0.0.1"].map { "\"\($0)\": {\"policy\": \"default\"}" }
        let judged = try await JudgedServer().judge("{\"hosts\": {\(hosts.joined(separator: ", "))}}", host: host)
        #expect(judged.isTrusted && judged.lines.first == "\(host):443: trusted")
    }

    @Test func `the policy disabled trusts every server, and the output states it`() async throws {
        let server = try JudgedServer(Blueprint.leaf("stranger").signed())
        let judged = try await server.judge(
            "{\"hosts\": {\"example.com\": {\"policy\": \"disabled\"}}}",
            host: "example.com"
        )
        #expect(judged.isTrusted)
        #expect(judged.lines.contains { $0.hasPrefix("note    chain         ") })
        #expect(judged.lines.contains { $0.hasPrefix("note    host          ") })
        #expect(judged.lines.last == "note    disabled      every server is trusted")
    }

    @Test func `each of several policies has a line`() async throws {
        let policy = """
            {"hosts": {"example.org": [
              {"policy": "revocation", "flags": ["ocsp", "networkAccessDisabled", "requirePositiveResponse"]},
              {"policy": "certificates", "files": ["leaf.pem"]}, {"policy": "publicKeys", "files": ["stranger.pem"]}
            ]}}
            """
        let judged = try await JudgedServer().judge(policy)
        let lines = Array(judged.lines.suffix(4))
        #expect(!judged.isTrusted)
        #expect(lines[0].hasPrefix("failed  revocation    the revocation status of example.org is unknown: "))
        #expect(lines[1].hasPrefix("note    revocation    unknown for Intermediate: "))
        #expect(lines[2] == "ok      certificates  one of the pinned certificates (1) is on the chain")
        #expect(lines[3] == "failed  publicKeys    neither example.org nor an authority above it is pinned")
    }

    @Test func `a revocation list of the policy file decides`() async throws {
        let server = try JudgedServer()
        var list = ForgedList(issuer: TrustWorld.intermediate)
        let policy = """
            {"revocationLists": ["list.pem"],
             "hosts": {"example.org": {"policy": "revocation", "flags": ["crl", "networkAccessDisabled"]}}}
            """
        _ = try server.directory.write("list.pem", list.pem(at: .now))
        let good = try await server.judge(policy)
        let line = "ok      revocation    no certificate is known to be revoked (crl networkAccessDisabled)"
        #expect(good.isTrusted && good.lines.suffix(2).first == line)
        #expect(good.lines.last?.hasPrefix("note    revocation    unknown for Intermediate: ") == true)
        list.revoke(TrustWorld.leaf)
        _ = try server.directory.write("list.pem", list.pem(at: .now))
        let revoked = try await server.judge(policy)
        #expect(revoked.lines.first?.hasPrefix("example.org:443: not trusted, example.org is revoked ") == true)
        #expect(revoked.lines.last?.hasPrefix("failed  revocation    example.org is revoked ") == true)
    }

    @Test func `the output states for each certificate why its revocation is unknown`() async throws {
        let url = "http://127.0.0.1:1/ocsp"
        var leaf = TrustWorld.server("example.org")
        leaf.more = RevocationWorld.extensions(responders: [url, "http://[::ffff:127.0.0.1]:1/"])
        let server = try JudgedServer(leaf.signed(by: TrustWorld.intermediate))
        let policy = "{\"hosts\": {\"example.org\": {\"policy\": \"revocation\"}}}"
        let soft = try await server.judge(policy)
        let lines = Array(soft.lines.suffix(3))
        #expect(soft.isTrusted && lines[0].hasPrefix("ok      revocation    no certificate is known to be revoked"))
        #expect(lines[1].hasPrefix("note    revocation    unknown for example.org: the responder \(url) "))
        #expect(lines[1].contains("it is a loopback, link-local or multicast address"))
        #expect(lines[1].contains("; the responder http://[::ffff:127.0.0.1]:1/ "))
        let unknown = "unknown for Intermediate: the certificate names no responder or list, and none is configured"
        #expect(lines[2] == "note    revocation    \(unknown)")
        #expect(soft.json.contains("{\"check\":\"revocation\",\"state\":\"note\",\"text\":\"\(unknown)\"}"))
        let flags = "\"flags\": [\"ocsp\", \"requirePositiveResponse\"]"
        let hard = try await server.judge(policy.replacing("\"revocation\"", with: "\"revocation\", \(flags)"))
        let two = Array(hard.lines.suffix(2))
        #expect(
            two[0].hasPrefix("failed  revocation    the revocation status of example.org is unknown: the responder ")
        )
        #expect(!hard.isTrusted && two[1] == "note    revocation    \(unknown)")
    }

    @Test func `reasons without details have names in JSON`() async throws {
        let server = try JudgedServer()
        #expect(try await server.judge("{\"hosts\": {}}").json.contains("\"reason\":\"noEvaluator\""))
        let empty = "{\"hosts\": {\"example.org\": {\"policy\": \"certificates\", \"files\": []}}}"
        #expect(try await server.judge(empty).json.contains("\"reason\":\"noPins\""))
    }
}

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
            backup        none: only certificates on a trusted chain are suggested
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

/// The certificates of a server, evaluated without a connection. Its directory contains `root.pem`, `stranger.pem`
/// and `leaf.pem`.
struct JudgedServer {
    let directory = ScratchDirectory()
    private let chain: [Forged]

    init(_ leaf: Forged = TrustWorld.leaf) throws {
        chain = [leaf, TrustWorld.intermediate]
        for (name, forged) in [("root", TrustWorld.root), ("stranger", TrustWorld.stranger), ("leaf", leaf)] {
            _ = try directory.write("\(name).pem", [forged])
        }
    }

    func shown(_ anchors: String? = "root.pem") throws -> ShownServer {
        var trust = try ServerTrust(derEncodedChain: chain.map(\.der))
        if let anchors { trust.anchors = try AnchorFile.read("\(directory.path)/\(anchors)") }
        return ShownServer(trust: trust, version: "1.3")
    }

    /// The output of `reachability trust` for a policy, with DIR for the directory.
    func judge(
        _ policy: String? = nil,
        host: String = "example.org",
        anchors: String? = "root.pem",
        at time: TrustTime? = nil
    ) async throws -> Judged {
        let file = try policy.map { try directory.write("policy.json", $0) }
        let rules = try TrustRules(policyFile: file, anchors: anchors.map { "\(directory.path)/\($0)" })
        var shown = try shown(nil)
        rules.prepare(&shown.trust)
        shown.trust.time = time ?? shown.trust.time
        let server = try ServerAddress(host)
        let judgement = await rules.judge(shown.trust, forHost: server.host)
        let probe = ServerProbe(server: server, destination: try ServerAddress("127.0.0.1:1"))
        let output = TrustOutput(probe, shown, judgement, isAnotherTime: time != nil)
        let lines = output.lines.map { $0.replacing(directory.path, with: "DIR") }
        return Judged(
            isTrusted: output.isTrusted,
            lines: lines,
            json: String(decoding: output.json.bytes, as: UTF8.self)
        )
    }

    struct Judged {
        let isTrusted: Bool
        let lines: [String]
        let json: String
    }
}
