import Glibc
import NetworkLab
import Testing

/// Schema 1: what programs read of both commands.
@Suite struct JSONTests {
    private static let refused = "198.51.100.1"

    /// An uplink, and routes of every kind.
    private static func network() async throws -> Uplink {
        let uplink = try await Uplink.make()
        try await uplink.ip(
            "route add prohibit \(refused)",
            "route add blackhole 198.51.100.2",
            "route add unreachable 198.51.100.3",
            "link add idle type veth peer name nobody",
            "link set idle up",
            "addr add 198.18.0.1/24 dev idle"
        )
        return uplink
    }

    @Test(
        arguments: [
            (nil, "reachable", nil), ("203.0.113.9", "reachable", nil), ("2001:db8:9::9", "reachable", nil),
            ("192.0.2.2", "reachable", nil), ("localhost", "reachable", nil), ("0.0.0.0", "reachable", nil),
            (refused, "notReachable", "prohibited"), ("198.51.100.2", "notReachable", "blackholed"),
            ("198.51.100.3", "notReachable", "unreachable"), ("198.18.0.9", "notReachable", "noCarrier"),
            ("fe80::1%none", "notReachable", "noInterface"), ("fe80::1%u0", "reachable", nil),
        ] as [(String?, String, String?)]
    )
    func `each status has its keys`(host: String?, status: String, reason: String?) async throws {
        let uplink = try await Self.network()
        let result = try await Command.run(["status", "--json"] + [host].compactMap(\.self), in: uplink.namespace)
        #expect(result.lines.count == 1)
        #expect(result.errors.isEmpty)
        let line = try JSONLine(try #require(result.lines.first))
        #expect(line["status"] == status)
        #expect(line["reason"] == reason)
        #expect(line["target"] == host)
        #expect(result.status == (status == "reachable" ? 0 : 1))
    }

    @Test func `values are the kernel's`() async throws {
        let uplink = try await Self.network()
        let result = try await Command.run(["status", "--json", "203.0.113.9"], in: uplink.namespace)
        let line = try JSONLine(result.output)
        #expect(line["interface"] == "u0")
        #expect(line["interfaceType"] == "wired-virtual")
        #expect(line["connectionType"] == "ethernetOrWiFi")
        #expect(line["gateway"] == "192.0.2.1")
        #expect(line["source"] == "192.0.2.2")
        #expect(line["destination"] == "203.0.113.9")
        #expect(line.members["flags"] as? [String] == ["reachable"])
        #expect(line.members["supportsIPv4"] as? Bool == true)
        #expect(line.members["supportsIPv6"] as? Bool == false)
        #expect(line.members["generation"] as? Int == 1)
        #expect(result.output.hasSuffix(#","kind":"path"}"# + "\n"))
    }

    @Test func `watch writes the same schema, and generations grow`() async throws {
        let uplink = try await Self.network()
        let watch = try await RunningCommand.start(
            ["watch", "--json", "203.0.113.9", Self.refused],
            in: uplink.namespace
        )
        let first = [try JSONLine(try await watch.line()), try JSONLine(try await watch.line())]
        #expect(Set(first.map { $0["target"] }) == ["203.0.113.9", Self.refused])
        try await uplink.setConnected(false)
        let lost = try JSONLine(try await watch.line())
        #expect(lost["target"] == "203.0.113.9")
        #expect(lost["status"] == "notReachable")
        #expect(lost["reason"] == "noRoute")
        #expect((lost.members["generation"] as? Int ?? 0) > 1)
        let before = first.compactMap { $0.members["monotonicNanoseconds"] as? Int }.max() ?? .max
        #expect((lost.members["monotonicNanoseconds"] as? Int ?? 0) > before)
        watch.signal(SIGTERM)
        #expect(try await watch.result().status == 0)
    }

    @Test func `text is quoted as it must be`() async throws {
        let uplink = try await Uplink.make()
        // The kernel lets interfaces have such names, and a zone may name them.
        let name = "a\"\\b\u{e9}\u{1}"
        let zone = "fe80::1%\(name)"
        try await LabThread.detached {
            let added = try uplink.namespace.run("ip", ["link", "add", name, "type", "veth", "peer", "name", "p"])
            #expect(added.status == 0, "\(added.errors)")
            try uplink.namespace.ip("link set p up")
            _ = try uplink.namespace.run("ip", ["link", "set", name, "up"])
        }
        let result = try await Command.run(["status", "--json", zone], in: uplink.namespace)
        let line = try JSONLine(result.output)
        #expect(line["target"] == zone)
        #expect(line["interface"] == name)
    }
}
