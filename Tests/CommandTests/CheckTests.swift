import Foundation
import NetworkLab
import Testing

/// `reachability check`: what it is given, what it prints, and how it ends. Where it breaks is the business of the situations.
@Suite struct CheckTests {
    @Test func `what would be sent is told, and not sent`() async throws {
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
            "198.51.100.53: if it is silent: an echo (a datagram to port 33434 without the permission)",
            "the permission), and a SYN to port 53",
            "192.0.2.81: GET http://192.0.2.81/204 with a random challenge",
            "the gateway or a neighbour: GET / of port 80",
            "; over TCP if cut off",
        ] {
            #expect(anchored.output.contains(words), "\(words): \(anchored.output)")
        }
        #expect(anchored.output.contains("is a name; an echo (a datagram to port 33434"))
        let json = try await Command.run(arguments + ["--json"], in: uplink.namespace)
        #expect(json.lines.count == result.lines.count && json.lines.allSatisfy { $0.contains("\"kind\":\"traffic\"") })
    }

    @Test func `this machine itself answers`() async throws {
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
        let simple = try await Command.run(["check", "--simple", "tcp://127.0.0.1:9"], in: namespace)
        #expect(simple.status == 1)
        let words = ["check", "--count", "3", "--interval", "1ms", "--json", "127.0.0.1"]
        let often = try await Command.run(words, in: namespace)
        #expect(often.lines.count == 3)
        #expect(Set(often.lines.compactMap { $0.firstMatch(of: /"since":"([^"]*)"/)?.1 }).count == 1)
    }

    @Test func `a file of targets`() async throws {
        let script = "printf '127.0.0.1\\n# none\\n\\n127.0.0.1:9 # closed\\n' | $R check --file -"
        let result = try await Command.run(script: script)
        #expect(result.lines.count == 2 && result.errors.isEmpty)
        let bad = try await Command.run(script: "printf '127.0.0.1\\nx y\\n' | $R check --file -")
        #expect(bad.status == 65 && bad.output.isEmpty)
        #expect(bad.errors.hasPrefix("reachability: standard input:2: \"x y\" cannot be checked"))
        #expect(try await Command.run(["check", "--file", "/nowhere"]).status == 66)
        #expect(try await Command.run(["check", "--file", "/dev/null"]).status == 65)
        let wrong = try await Command.run(["check", "127.0.0.1", "1.2.3.4:0"])
        #expect(
            wrong.status == 64 && wrong.output.isEmpty && wrong.errors.split(separator: "\n").count == 1,
            "\(wrong)"
        )
    }

    /// Dispatch and SwiftNIO end a process that has no descriptor for what they open first of all.
    @Test(arguments: [
        (9, "check"), (10, "check"), (11, "check"), (12, "check"), (14, "check"), (16, "check"), (20, "check"),
        (11, "watch --check"), (11, "wait --works"),
    ])
    func `with few descriptors it says so`(limit: Int, command: String) async throws {
        let result = try await Command.run(script: "ulimit -n \(limit) && exec $R \(command) 127.0.0.1")
        #expect(result.status == 75 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("ulimit -n") && result.errors.split(separator: "\n").count == 1)
    }

    /// Memory grew with each report that was kept.
    @Test func `ten thousand targets of a file, with few descriptors and bounded memory`() async throws {
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
        // 41 MB in a debug build, of which 10,000 reports would be 45 more.
        #expect(figures.dropLast().last.flatMap { Int($0) }.map { $0 < 70_000 } == true, "\(figures)")
    }
}
