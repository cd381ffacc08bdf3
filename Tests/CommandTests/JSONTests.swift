import Glibc
import NetworkLab
import Testing

/// Schema 1: what programs read of both commands.
@Suite struct JSONTests {
    private static let refused = "198.51.100.1"

    private static func network() async throws -> Uplink {
        let uplink = try await Uplink.make()
        try await uplink.ip("route add prohibit \(refused)")
        return uplink
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
}
