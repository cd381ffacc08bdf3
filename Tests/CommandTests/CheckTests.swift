import Foundation
import Glibc
import NetworkLab
import ServerTrust
import Testing
import TrustForge
import WebLab

/// `reachability check`: its arguments, its output and its exit status. The verdicts are tested in CheckScenarioTests.
@Suite struct CheckTests {
    @Test func `--explain-traffic prints the traffic and sends nothing`() async throws {
        let uplink = try await Uplink.make()
        let arguments = ["check", "--explain-traffic", "--dns", "198.51.100.53", "https://192.0.2.80/x"]
        let result = try await Command.run(arguments, in: uplink.namespace)
        #expect(result.status == 0 && result.errors.isEmpty)
        let receivers = Set(result.lines.compactMap { $0.components(separatedBy: ": ").first })
        #expect(
            receivers == [
                "192.0.2.1", "2001:db8::1", "the second router", "198.51.100.53", "192.0.2.80", "203.0.113.1",
                "3fff::1",
            ]
        )
        let anchored = try await Command.run(arguments + ["--anchor", "http://192.0.2.81/204"], in: uplink.namespace)
        for words in [
            "198.51.100.53: if it is silent: an echo (without permission, a datagram to port 33434)",
            "port 33434), and a SYN to port 53",
            "192.0.2.81: GET http://192.0.2.81/204 with a random challenge",
            "the gateway or a neighbour: GET / on port 80",
            "; over TCP if truncated",
        ] {
            #expect(anchored.output.contains(words), "\(words): \(anchored.output)")
        }
        #expect(anchored.output.contains("is a name; an echo (without permission, a datagram to port 33434"))
        let json = try await Command.run(arguments + ["--json"], in: uplink.namespace)
        #expect(json.lines.count == result.lines.count && json.lines.allSatisfy { $0.contains("\"kind\":\"traffic\"") })
    }

    @Test func `a host on this machine works, and JSON contains each key of the schema`() async throws {
        let namespace = try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return namespace
        }
        defer { namespace.close() }
        let result = try await Command.run(["check", "--json", "127.0.0.1"], in: namespace)
        #expect(result.status == 0 && result.errors.isEmpty)
        let line = try #require(result.lines.first)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["schema"] as? Int == 1 && object["kind"] as? String == "check")
        #expect(object["target"] as? String == "127.0.0.1" && object["place"] as? String == "works")
        #expect(object["reason"] as? String == "targetAnswers" && object["confidence"] as? String == "proven")
        let steps = try #require(object["steps"] as? [[String: Any]])
        #expect(steps.first?["kind"] as? String == "address" && steps.last?["kind"] as? String == "verdict")
        for key in ["since", "text", "probes", "cost", "notes", "pathReason", "status", "interface", "milliseconds"] {
            #expect(object.keys.contains(key), "\(key)")
        }
        let refused = try await Command.run(["check", "tcp://127.0.0.1:9"], in: namespace)
        #expect(refused.status == 18 && refused.output.contains("refuses the connection"))
        #expect(try await Command.run(["check", "--simple", "tcp://127.0.0.1:9"], in: namespace).status == 1)
        let words = ["check", "--count", "3", "--interval", "1ms", "--json", "127.0.0.1"]
        let often = try await Command.run(words, in: namespace)
        #expect(often.lines.count == 3)
        #expect(Set(often.lines.compactMap { $0.firstMatch(of: /"since":"([^"]*)"/)?.1 }).count == 1)
    }

    @Test func `targets are read from a file, and a bad line is refused`() async throws {
        let script = "printf '127.0.0.1\\n# none\\n\\n127.0.0.1:9 # closed\\n' | $R check --file -"
        let result = try await Command.run(script: script)
        #expect(result.lines.count == 2 && result.errors.isEmpty)
        let bad = try await Command.run(script: "printf '127.0.0.1\\nx y\\n' | $R check --file -")
        #expect(bad.status == 65 && bad.output.isEmpty)
        #expect(bad.errors.hasPrefix("reachability: standard input:2: cannot check \"x y\""))
        #expect(try await Command.run(["check", "--file", "/nowhere"]).status == 66)
        #expect(try await Command.run(["check", "--file", "/dev/null"]).status == 65)
        let wrong = try await Command.run(["check", "127.0.0.1", "1.2.3.4:0"])
        #expect(
            wrong.status == 64 && wrong.output.isEmpty && wrong.errors.split(separator: "\n").count == 1,
            "\(wrong)"
        )
    }

    /// Dispatch and SwiftNIO end a process that has no file descriptor for their first resources.
    @Test(arguments: [
        (9, "check"), (10, "check"), (11, "check"), (12, "check"), (14, "check"), (16, "check"), (20, "check"),
        (11, "watch --check"), (11, "wait --works"),
    ])
    func `a check with too few file descriptors reports the limit`(limit: Int, command: String) async throws {
        let result = try await Command.run(script: "ulimit -n \(limit) && exec $R \(command) 127.0.0.1")
        #expect(result.status == 75 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("ulimit -n") && result.errors.split(separator: "\n").count == 1)
    }

    /// Without a limit, memory would grow with each stored report.
    @Test func `ten thousand targets of a file need few descriptors and bounded memory`() async throws {
        let namespace = try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return namespace
        }
        defer { namespace.close() }
        let script = """
            for i in $(seq 0 9999); do echo "tcp://127.1.$((i / 250)).$((i % 250 + 1)):9"; done |
            (ulimit -n 256; exec $R check --rate 100000 --file -) > "$OUT" & check=$!
            most=0
            while peak=$(grep VmHWM /proc/$!/status); do
                figures=$peak
                count=$(ls /proc/$!/fd | wc -l)
                [ "$count" -le "$most" ] || most=$count
                sleep 0.2
            done 2>/dev/null
            wait $check; echo "$?" "$most" $figures
            """
        let result = try await Command.run(
            script: "OUT=$(mktemp); \(script); cut -d' ' -f2 \"$OUT\"; rm \"$OUT\"",
            in: namespace
        )
        let figures = result.lines.first?.split(separator: " ").map(String.init) ?? []
        let targets = result.lines.dropFirst()
        #expect(targets.count == 10_000 && Set(targets).count == 10_000)
        #expect(figures.first == "18" && figures.count == 5, "\(figures) \(result.errors)")
        #expect(figures.dropFirst().first.flatMap { Int($0) }.map { $0 < 200 } == true, "\(figures)")
        // A debug build needs 41 MB. 10,000 stored reports would need 45 MB more.
        #expect(figures.dropLast().last.flatMap { Int($0) }.map { $0 < 70_000 } == true, "\(figures)")
    }
}

/// `reachability check --policy`: requirements for a server in addition to a valid certificate.
@Suite struct CheckPolicyTests {
    private static func pins(_ pins: PublicKeyPin..., more: String = "") -> String {
        let texts = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return "{\"hosts\": {\"**.org\": {\"policy\": \"pins\", \"pins\": [\(texts)]\(more)}}}"
    }

    private static let right = pins(TrustWorld.leaf.pin, TrustWorld.stranger.pin)
    private static let open = right.replacing("{\"hosts\"", with: "{\"allHostsMustBeEvaluated\": false, \"hosts\"")
    private static let hosts = "\"hosts\": {\"example.org\": {\"policy\": \"default\"}}"

    /// A policy, the file of the system's trust store, the exit status, and texts of the output.
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

    @Test func `a policy decides in addition to the certificate, and an invalid file is refused`() async throws {
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

/// `why --active`, `wait --works` and `watch --check`, which continue with a check.
@Suite struct CheckGoesOnTests {
    @Test func `why --active continues with probes`() async throws {
        let line = try await CheckedLine.make()
        let result = try await Command.run(["why", "--active", CheckedLine.world], in: line.pc)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first?.hasPrefix("ok") == true)
        #expect(result.lines.last?.contains("works: \(CheckedLine.world) answers, proven") == true, "\(result)")
        try await line.connect(false)
        let broken = try await Command.run(["why", "--active", "--json"], in: line.pc)
        #expect(broken.status == 11 && broken.output.contains("\"place\":\"link\""), "\(broken)")
        await line.close()
    }

    @Test func `wait --works waits until a check succeeds`() async throws {
        let line = try await CheckedLine.make()
        let anchor = try await WebServer(in: line.provider, at: [CheckedLine.world])
        let options = "--anchor http://anchor.test:\(anchor.port)/204 --resolve anchor.test=\(CheckedLine.world)"
        try await line.connect(false)
        let late = try await line.run("wait --works --timeout 700ms")
        #expect(late.status == 75 && late.output.isEmpty, "\(late)")
        #expect(late.errors.contains("timeout after 700ms: the target does not work; `reachability check` finds"))
        let waiting = try await line.start("wait --works --timeout 60s \(options)")
        try await Task.sleep(for: .milliseconds(500))
        #expect(await waiting.restOfLines().isEmpty)
        try await line.connect(true)
        let result = try await waiting.result()
        // The gateway's IPv6 addresses return a moment after the cable.
        let isGood = [" internet: works: ", " internet: degraded: IPv6 "].contains { result.output.contains($0) }
        #expect(result.status == 0 && isGood, "\(result)")
        // The anchor was queried at the given address.
        #expect(anchor.requests.contains { $0.contains("anchor.test") }, "\(anchor.requests)")
        await anchor.close()
        await line.close()
    }

    @Test func `watch --check prints verdicts until it is interrupted`() async throws {
        let line = try await CheckedLine.make()
        let watching = try await line.start("watch --check --json")
        #expect(try await watching.place() == "works")
        try await line.connect(false)
        #expect(try await watching.place() == "link")
        try await line.connect(true)
        while try await watching.place() != "works" {}
        #expect(try await watching.result(after: SIGTERM).status == 0)
        await line.close()
    }

    @Test func `watch --check queries the captive portal that a router announces`() async throws {
        let line = try await CheckedLine.make()
        let server = try await WebServer(
            in: line.gateway,
            identity: .good(for: "portal.test"),
            .portalAPI(#"{"captive":true,"user-portal-url":"https://portal.test/login"}"#)
        )
        let watching = try await line.start("watch --check -4 --json --resolve portal.test=10.1.0.1")
        #expect(try await watching.place() == "works")
        #expect(server.requests.isEmpty)
        let url = "https://portal.test:\(server.port)/api"
        try await line.announce(url)
        #expect(try await watching.place() == "portal")
        // Repeating the announcement changes nothing. Another server, and the end of the announcement, are changes.
        server.behave(.portalAPI(#"{"captive":false}"#))
        try await line.announce(url)
        try await line.announce(url + "/2")
        #expect(try await watching.place() == "works")
        #expect(server.requests.last?.hasPrefix("GET /api/2 ") == true, "\(server.requests)")
        server.behave(.portalAPI(#"{"captive":true}"#))
        try await line.announce(url)
        #expect(try await watching.place() == "portal")
        try await line.announce("urn:ietf:params:capport:unrestricted")
        #expect(try await watching.place() == "works")
        #expect(try await watching.result(after: SIGINT).status == 0)
        await server.close()
        await line.close()
    }

    @Test func `a single check uses the captive portal in the files of systemd-networkd`() async throws {
        let line = try await CheckedLine.make()
        let server = try await WebServer(
            in: line.gateway,
            identity: .good(for: "portal.test"),
            .portalAPI(#"{"captive":true}"#)
        )
        func check(lease address: String) async throws -> CommandResult {
            let script = """
                mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/netif/leases /run/systemd/netif/links
                index=$(cat /sys/class/net/p0/ifindex 2>/dev/null || ip -o link show p0 | cut -d: -f1)
                echo ADDRESS=\(address) > /run/systemd/netif/leases/$index
                echo CAPTIVE_PORTAL=https://portal.test:\(server.port)/api > /run/systemd/netif/links/$index
                exec "$@"
                """
            return try await line.run(
                "check --family 4 --json --resolve portal.test=10.1.0.1",
                after: "unshare --mount sh -c '\(script)' sh"
            )
        }
        let told = try await check(lease: "10.1.0.2")
        #expect(told.status == 15 && told.output.contains("\"place\":\"portal\""), "\(told)")
        // Files about an interface with the same index in another namespace are not used.
        let other = try await check(lease: "10.1.0.99")
        #expect(other.status == 0, "\(other)")
        await server.close()
        await line.close()
    }
}
