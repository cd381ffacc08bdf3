import Foundation
import NetworkLab
import Testing

/// `reachability outages`, `availability` and `report`.
@Suite struct ServiceClientTests {
    @Test func `the commands print the observations of a service`() async throws {
        let lab = try await ServeLab.start()
        let socket = ["--socket", lab.socket]
        #expect(try await Command.run(["outages"] + socket) == CommandResult(status: 0, output: "", errors: ""))
        try await Command.run(["report"] + socket).expectRefusal("there was no outage yet")
        for _ in 0..<2 {
            try await lab.uplink.setConnected(false)
            try await waitUntil {
                let outage = try await lab.get("/v1/outages/latest")
                return outage.contains("\"end\":null") && outage.contains("\"phase\":\"during\"")
            }
            try await lab.uplink.setConnected(true)
            try await waitUntil { try await lab.outages().first?.end != nil }
        }
        let outages = try await Command.run(["outages"] + socket).lines
        #expect(outages.count == 2)
        for line in outages {
            #expect(
                line.wholeMatch(of: #/\d{4}-\S+Z internet: us\.route \(noRoute\) for [0-9.]+m?s, [0-9a-z]+-[0-9a-z]+/#)
                    != nil
            )
        }
        let json = try await Command.run(["outages", "--json", "--target", "internet"] + socket).lines
        let decoded = try json.map { try JSONDecoder().decode(ServedOutage.self, from: Data($0.utf8)) }
        #expect(decoded.map(\.cause) == ["route", "route"])

        let id = try #require(decoded.last?.id)
        let report = try await Command.run(["report", id] + socket)
        #expect(report.status == 0)
        #expect(report.output.contains(" during:\n"))
        #expect(report.output.contains("\n  !! route: none to "))
        let object = try await Command.run(["report", "--json"] + socket).lines
        #expect(try JSONDecoder().decode(ServedOutage.self, from: Data((object.first ?? "").utf8)).id == decoded[0].id)

        let availability = try await Command.run(["availability", "--window", "1h"] + socket)
        #expect(availability.output.hasPrefix("internet: "))
        #expect(availability.output.contains(" of what was observed in 1h: up "))
        let share = try await Command.run(["availability", "--json"] + socket).output
        let item = try #require(try JSONSerialization.jsonObject(with: Data(share.utf8)) as? [String: Any])
        #expect((item["availability"] as? Double).map { $0 < 1 } == true)

        try await Command.run(["report", "x"] + socket)
            .expectRefusal("there is no outage \"x\"; /v1/outages lists all")
        try await Command.run(["availability", "--target", "x y"] + socket)
            .expectRefusal("there is no target \"x y\"; /v1/targets lists all")
        #expect(try await lab.end() == 0)
    }

    @Test func `outages are selected by time, state and number, also over HTTP`() async throws {
        let directory = ScratchDirectory()
        let admin = try await Command.run(["serve", "token", "--name", "ops", "--scope", "admin"]).output
            .split(separator: "\n", maxSplits: 1).map(String.init)
        try directory.write("token", admin[0], mode: 0o600)
        try directory.write(
            "serve.toml",
            "schema = 1\n[[target]]\nname = \"internet\"\nat-large = true\n\(admin[1])",
            mode: 0o600
        )
        let lab = try await ServeLab.start(
            ["--listen", "127.0.0.1:0", "--config", directory.file("serve.toml")],
            in: directory
        )
        let address = try #require(lab.places.firstMatch(of: #/http://127\.0\.0\.1:[0-9]+/#)).output
        let url = ["--url", String(address)]
        func run(_ words: [String], _ place: [String]? = nil) async throws -> CommandResult {
            try await Command.run(words + (place ?? url), in: lab.uplink.namespace)
        }
        for _ in 0..<2 {
            try await lab.uplink.setConnected(false)
            try await waitUntil { try await lab.outages().first.map { $0.end == nil } == true }
            try await lab.uplink.setConnected(true)
            try await waitUntil { try await lab.outages().first?.end != nil }
        }
        try await lab.uplink.setConnected(false)
        try await waitUntil { try await run(["outages", "--open"]).lines.count == 1 }
        try await lab.uplink.setConnected(true)
        try await waitUntil { try await lab.outages().first?.end != nil }
        #expect(try await run(["outages"]).lines.count == 3)
        let all = try await run(["outages"], ["--socket", lab.socket]).lines
        #expect(try await run(["outages", "--limit", "2"]).lines == Array(all.prefix(2)))
        #expect(try await run(["outages", "--since", "1h"]).lines == all)
        #expect(try await run(["outages", "--since", "2100-01-01T00:00:00Z"]).lines.isEmpty)
        #expect(try await run(["outages", "--open"]).output.isEmpty)
        try await run(["outages", "--since", "soon"]).expectRefusal(
            "\"soon\" is not a time; write a duration such as 24h, or a time such as 2026-11-21T08:15:30Z"
        )
        // The first line in another time zone.
        let script = "TZ=XYZ-05:30 $R outages --limit 1 --socket \(lab.socket)"
        let local = try #require(try await Command.run(script: script, in: lab.uplink.namespace).lines.first)
        #expect(local.contains(#/^[-0-9]{10}T[0-9:.]{12}\+05:30 internet: us\./#), "\(local)")
        #expect(
            try await Command.run(script: script + " --utc", in: lab.uplink.namespace).lines == Array(all.prefix(1))
        )

        // The rows of a statement are not converted, because its digest is that of the rows.
        let statement = "TZ=XYZ-05:30 $R statement --party us --socket \(lab.socket)"
        let text = try await Command.run(script: statement, in: lab.uplink.namespace).output
        let sum = statement + " --format csv | sha256sum"
        let digest = try await Command.run(script: sum, in: lab.uplink.namespace).output.prefix(64)
        #expect(digest.utf8.count == 64 && text.contains(digest), "\(text)")

        // Changes over HTTP need a token.
        let token = url + ["--token-file", directory.file("token")]
        #expect(try await run(["note", "It rained."]).status == 77)
        let note = try await run(["note", "It rained."], token)
        #expect(note.status == 0 && note.output.contains(" note of ops: It rained.\n"), "\(note)")
        #expect(try await run(["report"]).output.contains("note of ops: It rained.\n"))
        #expect(try await run(["maintenance"]).output.isEmpty)
        let plan = ["maintenance", "switch", "--for", "2h", "--target", "internet"]
        let planned = try await run(plan, token)
        #expect(planned.status == 0 && planned.output.hasPrefix("switch: internet, "), "\(planned)")
        #expect(try await run(["maintenance"]).output == planned.output)
        #expect(try await run(["maintenance", "switch", "--json"]).output.contains("\"id\":\"switch\""))
        #expect(
            try await run(["maintenance", "switch", "--end"], token) == CommandResult(status: 0, output: "", errors: "")
        )
        try await run(["maintenance", "switch", "--end"], token).expectRefusal(
            "there is no planned maintenance \"switch\"; /v1/maintenance lists all"
        )
        try await run(["check-now", "internet"], token).expectRefusal(
            "cannot check \"internet\": its configuration has no checks"
        )
        let file = directory.file("serve.toml")
        #expect(try await run(["serve", "--reload"]).status == 77)
        #expect(
            try await run(["serve", "--reload"], token)
                == CommandResult(status: 0, output: "\(file) is applied\n", errors: "")
        )
        for (words, complaint) in [
            (["--url", String(address)], "--url needs --reload."),
            (["--reload", "--token-file", file], "--token-file needs --url."),
            (["--reload", "--socket", lab.socket, "--url", String(address)], "Give --socket or --url, not both."),
        ] {
            let refused = try await Command.run(["serve"] + words)
            #expect(refused.status == 64 && refused.errors.contains(complaint), "\(refused)")
        }
        #expect(try await lab.end() == 0)
        try await run(["outages"]).expectRefusal("cannot query \(address): no service listens there", status: 69)
    }

    @Test(arguments: ["outages", "availability", "statement", "report", "note text", "maintenance", "check-now erp"])
    func `a missing service is reported with a hint`(words: String) async throws {
        try await Command.run(words.split(separator: " ").map(String.init) + ["--socket", "/nowhere"])
            .expectRefusal(
                "cannot query /nowhere: no service listens there; start one with `reachability serve`, or name its socket with --socket or its address with --url",
                status: 69
            )
    }
}
