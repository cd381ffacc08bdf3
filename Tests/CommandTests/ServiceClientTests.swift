import Foundation
import NetworkLab
import Testing

/// `reachability outages`, `availability` and `report`.
@Suite struct ServiceClientTests {
    @Test func `they print what a service has seen`() async throws {
        let lab = try await ServeLab.start()
        let socket = ["--socket", lab.socket]
        #expect(try await Command.run(["outages"] + socket) == CommandResult(status: 0, output: "", errors: ""))
        try await Command.run(["report"] + socket).expectRefusal("there was no outage yet")
        for _ in 0..<2 {
            try await lab.uplink.setConnected(false)
            #expect(
                try await eventually {
                    let outage = try await lab.get("/v1/outages/latest")
                    return outage.contains("\"end\":null") && outage.contains("\"phase\":\"during\"")
                }
            )
            try await lab.uplink.setConnected(true)
            #expect(try await eventually { try await lab.outages().first?.end != nil })
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
            .expectRefusal("there is no outage \"x\"; /v1/outages has those there are")
        try await Command.run(["availability", "--target", "x y"] + socket)
            .expectRefusal("there is no target \"x y\"; /v1/targets has those there are")
        #expect(try await lab.end() == 0)
    }

    @Test(arguments: ["outages", "availability", "report"])
    func `without a service that is said`(name: String) async throws {
        try await Command.run([name, "--socket", "/nowhere"])
            .expectRefusal(
                "no service listens at /nowhere: start one with `reachability serve`, or name its socket with --socket",
                status: 69
            )
    }
}
