import Foundation
import NetworkReachabilityTesting
import ServerTrust
import SwiftASN1
import TestSupport
import Testing
import TrustForge

/// Policies from a file: the accepted content, and each error message.
@Suite struct PolicyFileTests {
    private static let pin = World.leaf.pin.description
    private static let other = World.strangeRoot.pin.description

    private func read(_ text: String, in directory: ScratchDirectory? = nil) throws -> TrustPolicyFile {
        try TrustPolicyFile(content: Array(text.utf8), name: "policy.json", directory: directory?.path ?? "")
    }

    private func trust() throws -> ServerTrust {
        try ServerTrust([World.leaf, World.intermediate], anchors: [World.root])
    }

    /// Returns the reason for which the policies of a file refuse a server with a valid chain.
    private func reason(
        _ text: String,
        host: String = World.host,
        in directory: ScratchDirectory? = nil
    ) throws
        -> TrustFailure?
    {
        do {
            try read(text, in: directory).manager().evaluate(try trust(), forHost: host)
            return nil
        } catch let error as ServerTrustError {
            return error.reason
        }
    }

    @Test func `each key of a policy file is read`() throws {
        let directory = ScratchDirectory()
        try directory.write("own/root.pem", PEM.text([World.root.der]))
        try directory.write("leaf.der", World.leaf.der)
        let key = World.leaf.certificate.publicKey.subjectPublicKeyInfo
        try directory.write("key.pem", PEMDocument(type: "PUBLIC KEY", derBytes: key).pemString)
        let file = try directory.write(
            "policy.json",
            """
            {
              "allHostsMustBeEvaluated": false,
              "anchors": ["own/root.pem"],
              "hosts": {
                "example.org": { "policy": "default" },
                "*.example.org": [
                  { "policy": "revocation", "flags": ["crl", "networkAccessDisabled"], "validateHost": false },
                  { "policy": "pins", "pins": ["\(Self.pin)", "\(Self.other)"], "expires": "2027-11-01", "reportOnly": true }
                ],
                "**.example.com": { "policy": "certificates", "files": ["leaf.der"], "acceptSelfSigned": true, "validateChain": false },
                "b\\u00fccher.example": { "policy": "publicKeys", "files": ["key.pem", "leaf.der"] },
                "192.0.2.1": { "policy": "disabled" }
              }
            }
            """
        )
        let policy = try TrustPolicyFile(path: file)
        #expect(!policy.allHostsMustBeEvaluated)
        #expect(policy.anchors == TrustAnchors([World.root.certificate]))
        let summaries = policy.policies.mapValues { $0.map { "\($0.kind.rawValue): \($0.summary)" } }
        #expect(
            summaries == [
                "example.org": ["default: a valid chain"],
                "*.example.org": [
                    "revocation: no certificate is known to be revoked (crl networkAccessDisabled), the certificate may be for any host",
                    "pins: one of the pins (2) is on the chain, enforced until 2027-11-01T00:00:00Z, a mismatch is only reported",
                ],
                "**.example.com": [
                    "certificates: one of the pinned certificates (1) is on the chain, they are the only anchors, the chain need not be valid"
                ],
                "bücher.example": ["publicKeys: one of the pinned keys (2) is on the chain"],
                "192.0.2.1": ["disabled: every server is trusted"],
            ]
        )
        #expect(try policy.pattern(forHost: "EXAMPLE.org.") == "example.org")
        #expect(try policy.pattern(forHost: "a.example.org") == "*.example.org")
        #expect(try policy.pattern(forHost: "a.b.example.com") == "**.example.com")
        #expect(try policy.pattern(forHost: "xn--bcher-kva.example") == "bücher.example")
        #expect(try policy.pattern(forHost: "example.net") == nil)
        #expect(throws: TrustFailure.invalidHost("a b")) { try policy.pattern(forHost: "a b") }
    }

    @Test func `each policy has the verdict of its evaluator`() throws {
        let directory = ScratchDirectory()
        try directory.write("leaf.der", World.leaf.der)
        try directory.write("strange.der", World.strangeRoot.der)
        func reason(_ policy: String, host: String = World.host) throws -> TrustFailure? {
            try self.reason("{\"hosts\": {\"\(host)\": \(policy)}}", host: host, in: directory)
        }
        #expect(try reason(#"{"policy": "default"}"#) == nil)
        #expect(try reason(#"{"policy": "default"}"#, host: "example.com") == .hostMismatch(names: [World.host]))
        #expect(try reason(#"{"policy": "default", "validateHost": false}"#, host: "example.com") == nil)
        #expect(try reason(#"{"policy": "disabled"}"#, host: "example.com") == nil)
        #expect(try reason(#"{"policy": "certificates", "files": ["leaf.der"]}"#) == nil)
        let notPinned = TrustFailure.notPinned(subject: World.host)
        #expect(try reason(#"{"policy": "certificates", "files": ["strange.der"]}"#) == notPinned)
        #expect(try reason(#"{"policy": "publicKeys", "files": ["leaf.der"]}"#) == nil)
        #expect(try reason(#"{"policy": "publicKeys", "files": ["strange.der"]}"#) == notPinned)
        // Without pinned certificates no server is trusted.
        #expect(try reason(#"{"policy": "certificates", "files": []}"#) == .noPins)
        #expect(try reason("{\"policy\": \"pins\", \"pins\": [\"\(Self.pin)\", \"\(Self.other)\"]}") == nil)
        let wrong = "{\"policy\": \"pins\", \"pins\": [\"\(Self.other)\"], \"requireBackup\": false"
        let presented = [World.leaf.pin, World.intermediate.pin, World.root.pin]
        #expect(try reason(wrong + "}") == .pinMismatch(presented: presented))
        #expect(try reason(wrong + ", \"reportOnly\": true}") == nil)
        #expect(try reason(wrong + ", \"expires\": \"2026-06-15T12:00:00Z\"}") == nil)
        #expect(try reason(wrong + ", \"expires\": \"2026-06-15T12:00:01Z\"}") == .pinMismatch(presented: presented))
        // All policies of an array must trust the server.
        #expect(try reason("[{\"policy\": \"default\"}, \(wrong)}]") == .pinMismatch(presented: presented))
        #expect(try self.reason("{\"hosts\": {}}") == .noEvaluator)
        #expect(try self.reason("{\"hosts\": {}, \"allHostsMustBeEvaluated\": false}") == nil)
    }

    @Test func `pin mismatches are passed to the reporter`() throws {
        let reports = RecordingListener<PinReport>()
        let file = try TrustPolicyFile(
            content: Array(
                "{\"hosts\":{\"example.org\":{\"policy\":\"pins\",\"pins\":[\"\(Self.other)\"],\"requireBackup\":false,\"reportOnly\":true}}}"
                    .utf8
            ),
            name: "policy.json",
            reporter: { reports.record($0) }
        )
        try file.manager().evaluate(try trust(), forHost: World.host)
        #expect(reports.values.map(\.isEnforced) == [false])
    }

    @Test func `the manager and the configuration keep the file's anchors and lists`() throws {
        let directory = ScratchDirectory()
        try directory.write("root.pem", PEM.text([World.rsaRoot.der]))
        var list = ForgedList(issuer: World.intermediate)
        list.revoke(World.leaf)
        try directory.write("list.pem", list.pem(at: World.now))
        let policy = "{\"policy\": \"revocation\", \"flags\": [\"crl\", \"networkAccessDisabled\"]}"
        func failure(_ more: String) throws -> TrustFailure? {
            let file = try read("{\"hosts\": {\"\(World.host)\": \(policy)}, \(more)}", in: directory)
            // The trust has the anchors and lists of a client that does not use the file.
            let error = #expect(throws: ServerTrustError.self) {
                try file.manager().evaluate(trust(), forHost: World.host)
            }
            #expect(file.configuration.revocationLists.count == file.revocationLists.count)
            #expect(file.anchors == nil || file.configuration.anchors == file.anchors)
            return error?.reason
        }
        #expect(caseName(try failure("\"anchors\": [\"root.pem\"]")) == "unknownIssuer")
        #expect(caseName(try failure("\"revocationLists\": [\"list.pem\"]")) == "revoked")
    }

    @Test func `the file's anchors replace or extend the system's`() throws {
        let directory = ScratchDirectory()
        try directory.write("root.pem", PEM.text([World.root.der]))
        #expect(try read("{\"hosts\":{}}").anchors == nil)
        #expect(try read("{\"hosts\":{}, \"systemAnchors\": true}").anchors == nil)
        #expect(try read("{\"hosts\":{}, \"systemAnchors\": false}").anchors == TrustAnchors([]))
        let both = try read("{\"hosts\":{}, \"anchors\": [\"root.pem\"], \"systemAnchors\": true}", in: directory)
            .anchors
        #expect(both == TrustAnchors.system.adding([World.root.certificate]))
    }

    private static let kinds = "default, revocation, certificates, publicKeys, pins, disabled"
    private static let policyKeys = "policy, pins, requireBackup, expires, reportOnly, validateChain, validateHost"

    static let wrong: [(text: String, place: String, problem: String)] = [
        ("", "1:1", "the file ends too early"),
        ("{", "1:2", "a key in quotation marks is missing"),
        ("[]", "1:1", "a policy file must be an object, not an array"),
        ("{}", "1:1", "a policy file requires the key \"hosts\""),
        ("{\"hosts\": []}", "1:11", "\"hosts\" must be an object, not an array"),
        ("{\"hosts\": {}} {}", "1:15", "unexpected text after the end of the object"),
        ("{\"hosts\": {},}", "1:14", "a key in quotation marks is missing"),
        ("{\"hosts\" {}}", "1:10", "a colon is missing after the key \"hosts\""),
        ("{\"hosts\": {}\n \"anchors\": []}", "2:2", "a comma or } is missing"),
        ("{\"hosts\": {},\n  \"hosts\": {}}", "2:3", "the key \"hosts\" is duplicated"),
        ("{\"hosts\": {}, \"anchors\": [1 2]}", "1:29", "a comma or ] is missing"),
        ("{\"hosts\": }", "1:11", "a value is missing"),
        ("{\"hosts\": nil}", "1:11", "nil is not a value; strings need quotation marks"),
        ("{\"hosts\": 01}", "1:11", "01 is not a value; strings need quotation marks"),
        ("{\"hosts\": 1e9}", "1:11", "\"hosts\" must be an object, not a number"),
        ("{\"hosts\": null}", "1:11", "\"hosts\" must be an object, not null"),
        ("{\"hosts\": \"x}", "1:11", "the string has no closing quotation mark"),
        ("{\"ho\nsts\": 1}", "1:5", "a string may not contain a control character; escape it"),
        ("{\"ho\\xsts\": 1}", "1:6", "the escape sequence is unknown; write \\\\ for a backslash"),
        ("{\"\\u12\": 1}", "1:5", "four hexadecimal digits are missing after \\u"),
        ("{\"\\ud83d\\u0041\": 1}", "1:15", "a lone surrogate is not a character"),
        ("{\"\\udc00\": 1}", "1:9", "a lone surrogate is not a character"),
        ("// hosts\n{}", "1:1", "JSON has no comments"),
        (String(repeating: "[", count: 99), "1:17", "values are nested more than 16 levels deep"),
        (
            "{\"hosts\": {}, \"host\": {}, \"roots\": {}}", "1:15",
            "a policy file has no keys \"host\", \"roots\"; the keys are hosts, allHostsMustBeEvaluated, anchors,"
                + " systemAnchors, revocationLists"
        ),
        (
            "{\"hosts\": {}, \"allHostsMustBeEvaluated\": 1}", "1:42",
            "\"allHostsMustBeEvaluated\" must be true or false, not a number"
        ),
        ("{\"hosts\": {}, \"anchors\": \"a\"}", "1:26", "\"anchors\" must be an array of strings, not a string"),
        ("{\"hosts\": {}, \"anchors\": [true]}", "1:27", "\"anchors\" must contain only strings, not true"),
        ("{\"hosts\": {\"*\": {}}}", "1:12", "\"*\" is not a host, *.domain or **.domain"),
        (
            "{\"hosts\": {\"a.example\": {\"policy\": \"disabled\"},\n\"A.EXAMPLE\": 1}}", "2:1",
            "\"A.EXAMPLE\" and \"a.example\" match the same hosts"
        ),
        ("{\"hosts\": {\"a.example\": []}}", "1:25", "the array of policies is empty"),
        ("{\"hosts\": {\"a.example\": \"pins\"}}", "1:25", "a policy must be an object, not a string"),
        ("{\"hosts\": {\"a.example\": {}}}", "1:25", "a policy requires the key \"policy\""),
        (
            "{\"hosts\": {\"a.example\": {\"policy\": \"pin\"}}}", "1:36",
            "the policy is unknown; \"policy\" must be one of \(kinds)"
        ),
        ("{\"hosts\": {\"a.example\": {\"policy\": 1}}}", "1:36", "\"policy\" must be a string, not a number"),
        (
            policy("\"policy\": \"pins\", \"pin\": []"), "2:20",
            "a policy of the kind \"pins\" has no key \"pin\"; the keys are \(policyKeys)"
        ),
        (
            policy("\"policy\": \"disabled\", \"validateHost\": true"), "2:24",
            "a policy of the kind \"disabled\" has no key \"validateHost\"; the keys are policy"
        ),
        (policy("\"policy\": \"pins\""), "2:1", "a policy of the kind \"pins\" requires the key \"pins\""),
        (policy("\"policy\": \"pins\", \"pins\": []"), "2:28", "the pin set is empty; add at least two pins"),
        (
            policy("\"policy\": \"pins\", \"pins\": [\"\(pin)\"]"), "2:28",
            "\(PinError.backupPinMissing) with \"requireBackup\": false"
        ),
        (policy("\"policy\": \"pins\", \"pins\": [\"sha1/AAAA\"]"), "2:29", PinError.notAPin("sha1/AAAA").description),
        (
            policy("\"policy\": \"pins\", \"expires\": \"2027-02-29\", \"pins\": [\"\(pin)\", \"\(other)\"]"), "2:31",
            "\"2027-02-29\" is not a time; write 2027-11-01 or 2027-11-01T12:00:00Z"
        ),
        (
            policy("\"policy\": \"revocation\", \"flags\": [\"OCSP\"]"), "2:36",
            "the flag \"OCSP\" is unknown; the flags are ocsp, crl, preferCRL, requirePositiveResponse,"
                + " networkAccessDisabled"
        ),
        (
            policy("\"policy\": \"certificates\""), "2:1",
            "a policy of the kind \"certificates\" requires the key \"files\""
        ),
        (policy("\"policy\": \"publicKeys\""), "2:1", "a policy of the kind \"publicKeys\" requires the key \"files\""),
    ]

    private static func policy(_ members: String) -> String {
        "{\"hosts\": {\"a.example\":\n{\(members)}}}"
    }

    @Test(arguments: wrong)
    func `an error contains the position and the problem`(text: String, place: String, problem: String) {
        let error = #expect(throws: TrustPolicyFileError.self) { try read(text) }
        #expect(error?.description == "policy.json:\(place): \(problem)")
        if case .wrong? = error { return }
        Issue.record("the error is not an invalid policy")
    }

    @Test func `a referenced file that cannot be read is an error`() throws {
        let directory = ScratchDirectory()
        try directory.write("text", "no certificate")
        try directory.write("key.pem", "-----BEGIN PUBLIC KEY-----\n???\n-----END PUBLIC KEY-----\n")
        func description(_ text: String) -> String? {
            #expect(throws: TrustPolicyFileError.self) { try read(text, in: directory) }?.description
        }
        let missing = "\(directory.path)/none"
        #expect(
            description("{\"hosts\": {}, \"anchors\": [\"none\"]}")
                == "policy.json:1:27: cannot read certificates from \(missing): No such file or directory"
        )
        #expect(
            description(Self.policy("\"policy\": \"publicKeys\", \"files\": [\"none\"]"))
                == "policy.json:2:36: cannot read certificates from \(missing): No such file or directory"
        )
        #expect(
            description("{\"hosts\": {}, \"revocationLists\": [\"none\"]}")?
                .hasPrefix("policy.json:1:35: cannot read the revocation list \(missing): ") == true
        )
        #expect(
            description(Self.policy("\"policy\": \"certificates\", \"files\": [\"text\"]"))?
                .hasPrefix("policy.json:2:38: text has no usable certificate: ") == true
        )
        #expect(
            description(Self.policy("\"policy\": \"publicKeys\", \"files\": [\"key.pem\"]"))
                == "policy.json:2:36: cannot decode a key of key.pem"
        )
        let error = #expect(throws: TrustPolicyFileError.self) { try TrustPolicyFile(path: missing) }
        #expect(error == .unreadable(file: missing, cause: "No such file or directory"))
    }

    @Test func `a file that is not in UTF-8 is an error`() {
        #expect(throws: TrustPolicyFileError.wrong(file: "p", line: 1, column: 1, problem: "the file is not in UTF-8"))
        {
            try TrustPolicyFile(content: [0xff], name: "p")
        }
    }

    @Test(arguments: [
        "1970-01-01T00:00:00Z", "2026-11-21T06:36:08Z", "2028-02-29T23:59:59Z", "9999-12-31T23:59:59Z",
    ])
    func `a time is parsed and printed`(text: String) {
        #expect(TrustTime(text)?.description == text)
    }

    @Test(arguments: [
        "", "2026", "2026-1-1", "2026-13-01", "2026-02-30", "2026-11-21T06:36:08", "2026-11-21T06:36:08+01:00",
        "2026-11-21T24:00:00Z", "2026-11-21 06:36:08Z", "2026-11-21T06:36:08.5Z", "-2026-11-21", "2026-11-2１",
        "99999999999999999999-01-01T00:00:00Z", "10000000000000000-01-01T00:00:00Z", "10000000000000000-01",
    ])
    func `an invalid time is refused`(text: String) {
        #expect(TrustTime(text) == nil)
    }

    @Test func `a date means its first second`() {
        #expect(TrustTime("2027-11-01") == TrustTime(year: 2027, month: 11, day: 1))
    }
}
