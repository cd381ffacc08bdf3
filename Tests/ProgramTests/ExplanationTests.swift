import CommandLineSupport
import Foundation
import LinuxSupport
import NetworkDiagnostics
import NetworkLab
import NetworkReachability
import Testing

/// The complete output of `reachability why`, in namespaces with an uplink to routers that do not exist.
@Suite struct ExplanationTests {
    @Test func `the network at large shows the votes of each family, or of the selected one`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("-6 route flush default")
        let four = try await Explanation.of(nil, in: uplink.namespace, family: .ipv4)
        #expect(four.isReachable && four.lines.first == "ok      vote       IPv4 8 of 8, 5 needed")
        let six = try await Explanation.of(nil, in: uplink.namespace, family: .ipv6)
        #expect(!six.isReachable && six.lines.last == "broken  verdict    not reachable, no route")
        let both = try await Explanation.of(nil, in: uplink.namespace)
        #expect(both.lines.last == "ok      verdict    reachable (ethernet or Wi-Fi), over IPv4 only (IPv6: no route)")
    }

    @Test func `a silent gateway does not change the verdict`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("neigh add 192.0.2.1 dev u0 nud failed")
        let result = try await Explanation.of("203.0.113.9", in: uplink.namespace)
        let text = "gateway 192.0.2.1 failed, did not answer: probably down, but will be queried again"
        #expect(result.isReachable && result.lines.contains("note    neighbour  \(text)"))
    }

    @Test func `a name in the hosts file needs no name server`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Explanation.of("localhost", in: uplink.namespace)
        #expect(result.isReachable)
        #expect(result.lines.first?.hasPrefix("ok      resolver   ") == true)
        #expect(result.lines.first?.hasSuffix("; found in /etc/hosts") == true)
        #expect(result.lines.dropFirst().first?.hasPrefix("ok      name       localhost: ") == true)
    }

    @Test func `JSON for a reachable host contains the rule, the route and the neighbour`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:99 dev u0 nud permanent")
        let line = try await Explanation.of("203.0.113.9", in: uplink.namespace)
        #expect(try line.member("broken") == "null" && line.member("remedy") == "null")
        #expect(
            try line.member("addresses")
                == #"[{"address":"203.0.113.9","decides":true,"reachable":true,"reason":null}]"#
        )
        #expect(try line.member("votes") == "[]")
        #expect(
            try line.member("rule")
                == #"{"action":"lookup","priority":32766,"selector":"from all","suppressPrefixLength":null,"table":254}"#
        )
        #expect(
            try line.member("route")
                == #"{"legs":[{"gateway":"192.0.2.1","interface":"u0"}],"metric":0,"nextHopObject":null,"#
                + #""prefix":"0.0.0.0\/0","secondsLeft":null,"table":254,"type":"unicast"}"#
        )
        let links = try #require(line.object["links"] as? [[String: Any]])
        #expect(links.map { $0["interface"] as? String } == ["u0"] && links.first?["carrier"] as? Bool == true)
        #expect(
            try line.member("neighbour")
                == #"{"address":"192.0.2.1","hardwareAddress":"02:00:00:00:00:99","interface":"u0","isGateway":true,"#
                + #""state":"permanent"}"#
        )
        let steps = try #require(line.object["steps"] as? [[String: Any]])
        #expect(
            steps.map { "\($0["kind"] ?? "") \($0["state"] ?? "")" } == [
                "address ok", "rule ok", "route ok", "link ok", "neighbour ok", "source ok", "verdict ok",
            ]
        )
    }

    @Test func `JSON for an unreachable network contains the votes`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let line = try await Explanation.of(nil, in: uplink.namespace)
        #expect(try line.member("target") == "null" && line.member("reason") == "\"noRoute\"")
        #expect(try line.member("broken") == "\"route\"")
        #expect((line.object["remedy"] as? String)?.hasPrefix("add a route to 1.1.1.1") == true)
        #expect(
            try line.member("votes")
                == #"[{"addresses":8,"family":"IPv4","needed":5,"reachable":0},"#
                + #"{"addresses":5,"family":"IPv6","needed":3,"reachable":0}]"#
        )
        #expect((line.object["addresses"] as? [Any])?.count == 13)
        for key in ["rule", "route", "neighbour"] { #expect(try line.member(key) == "null", "\(key)") }
        #expect(try line.member("links") == "[]")
    }
}

/// The output of `reachability why` for a host in a namespace, created in this process.
struct Explanation: @unchecked Sendable {
    /// The lines without colours.
    let lines: [String]
    let object: [String: Any]
    let isReachable: Bool

    var text: String { lines.joined(separator: "\n") }

    static func of(
        _ host: String?,
        in namespace: LabNamespace,
        mark: UInt32 = 0,
        family: AddressFamily? = nil
    ) async throws -> Explanation {
        try await LabThread.detached {
            var options = NetworkReachabilityOptions()
            options.networkNamespace = .path(namespace.path)
            options.firewallMark = mark
            options.family = family
            let manager =
                if let host {
                    try NetworkReachabilityManager(host: host, options: options)
                } else {
                    try NetworkReachabilityManager(options: options)
                }
            let evidence = manager.evidence(over: family)
            let lines = evidence.steps.flatMap { step in
                StepText(step, of: evidence).lines.map { line in
                    String(decoding: line, as: UTF8.self).replacing(#/\u{1b}\[\d+m/#, with: "")
                }
            }
            let bytes = EvidenceObject(evidence: evidence, target: host, namespace: nil).bytes
            let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
            return Explanation(lines: lines, object: object, isReachable: evidence.path.status.isReachable)
        }
    }

    /// Returns a member of the object as JSON with sorted keys.
    func member(_ key: String) throws -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
        let data = try JSONSerialization.data(withJSONObject: object[key] ?? "missing", options: options)
        return String(decoding: data, as: UTF8.self)
    }
}
