import Foundation
import NetworkLab
import Testing

/// `reachability why --json`: schema 1, with keys of its own.
@Suite struct WhyJSONTests {
    private static func explain(_ arguments: [String], in uplink: Uplink) async throws -> JSONLine {
        let result = try await Command.run(["why", "--json"] + arguments, in: uplink.namespace)
        #expect(result.lines.count == 1)
        #expect(result.errors.isEmpty)
        return try JSONLine(try #require(result.lines.first))
    }

    /// A value as text, its keys sorted, to be compared whole.
    private static func text(_ value: Any?) throws -> String {
        let data = try JSONSerialization.data(
            withJSONObject: try #require(value),
            options: [.sortedKeys, .fragmentsAllowed]
        )
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `the keys of a host that can be reached`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:99 dev u0 nud permanent")
        let line = try await Self.explain(["203.0.113.9"], in: uplink)
        #expect(line["status"] == "reachable")
        #expect(line.members["broken"] is NSNull && line.members["remedy"] is NSNull)
        #expect(
            try Self.text(line.members["addresses"])
                == #"[{"address":"203.0.113.9","decides":true,"reachable":true,"reason":null}]"#
        )
        #expect(try Self.text(line.members["votes"]) == "[]")
        #expect(
            try Self.text(line.members["rule"])
                == #"{"action":"lookup","priority":32766,"selector":"from all","suppressPrefixLength":null,"table":254}"#
        )
        #expect(
            try Self.text(line.members["route"])
                == #"{"legs":[{"gateway":"192.0.2.1","interface":"u0"}],"metric":0,"nextHopObject":null,"#
                + #""prefix":"0.0.0.0\/0","secondsLeft":null,"table":254,"type":"unicast"}"#
        )
        let links = try #require(line.members["links"] as? [[String: Any]])
        #expect(links.count == 1)
        #expect(links.first?["interface"] as? String == "u0")
        #expect(links.first?["carrier"] as? Bool == true)
        #expect(
            try Self.text(line.members["neighbour"])
                == #"{"address":"192.0.2.1","hardwareAddress":"02:00:00:00:00:99","interface":"u0","isGateway":true,"#
                + #""state":"permanent"}"#
        )
        let steps = try #require(line.members["steps"] as? [[String: Any]])
        #expect(
            steps.map { "\($0["kind"] ?? "") \($0["state"] ?? "")" } == [
                "address ok", "rule ok", "route ok", "link ok", "neighbour ok", "source ok", "verdict ok",
            ]
        )
    }

    @Test func `the keys of a network that cannot be reached`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let line = try await Self.explain([], in: uplink)
        #expect(line["target"] == nil)
        #expect(line["reason"] == "noRoute")
        #expect(line["broken"] == "route")
        #expect(line["remedy"]?.hasPrefix("add a route to 1.1.1.1") == true)
        #expect(
            try Self.text(line.members["votes"])
                == #"[{"addresses":8,"family":"IPv4","needed":5,"reachable":0},"#
                + #"{"addresses":5,"family":"IPv6","needed":3,"reachable":0}]"#
        )
        #expect((line.members["addresses"] as? [Any])?.count == 13)
        for key in ["rule", "route", "neighbour"] { #expect(line.members[key] is NSNull, "\(key)") }
        #expect(try Self.text(line.members["links"]) == "[]")
    }

    @Test(arguments: [
        ("198.51.100.1", "prohibit", "prohibited"), ("198.51.100.1", "blackhole", "blackholed"),
        ("198.51.100.1", "unreachable", "unreachable"), ("2001:db8:7::1", "prohibit", "prohibited"),
    ])
    func `status and why say the same`(host: String, type: String, reason: String) async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("route add \(type) \(host)")
        let why = try await Self.explain([host], in: uplink)
        let status = try await Command.run(["status", "--json", host], in: uplink.namespace)
        let line = try JSONLine(status.output)
        #expect(why["reason"] == reason)
        for key in ["status", "reason", "interface", "gateway", "source", "destination"] {
            #expect(why[key] == line[key], "\(key)")
        }
        #expect(why["broken"] == "route")
    }
}
