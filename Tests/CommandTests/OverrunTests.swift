import Glibc
import NetworkLab
import Testing

/// More changes than the kernel keeps for a reader.
@Suite(.serialized) struct OverrunTests {
    /// Messages the kernel could not deliver to the command.
    private static func drops(in namespace: LabNamespace) async throws -> Int {
        try await namespace.perform { try ListedSocket.all() }.map(\.drops).reduce(0, +)
    }

    /// Adds and removes 20,000 routes; in the middle the default routes go or come.
    private static func storm(in uplink: Uplink, connecting: Bool) async throws {
        let subnets = (0..<20_000).map { "198.\(18 + $0 / 65_536).\($0 / 256 % 256).\($0 % 256)/32" }
        try await LabThread.detached {
            func batch(_ commands: [String]) throws {
                let ip = try uplink.namespace.start("ip", ["-batch", "-"], input: commands.joined())
                // Long on a machine that has much else to do.
                let result = try ip.wait(within: .seconds(300))
                guard result.status == 0 else { throw LabError("ip ended with \(result.status): \(result.errors)") }
            }
            try batch(subnets.map { "route add \($0) dev u0\n" })
            try connecting ? uplink.connect() : uplink.disconnect()
            try batch(subnets.map { "route del \($0) dev u0\n" })
        }
    }

    @Test func `a loss of messages leaves no wrong answer`() async throws {
        let uplink = try await Uplink.make()
        let watch = try await RunningCommand.start(["watch", "--no-filter"], in: uplink.namespace)
        #expect(try await watch.status().hasPrefix("reachable"))
        for isConnected in [false, true] {
            watch.signal(SIGSTOP)
            let before = try await Self.drops(in: uplink.namespace)
            try await Self.storm(in: uplink, connecting: isConnected)
            #expect(try await Self.drops(in: uplink.namespace) > before)
            watch.signal(SIGCONT)
            #expect(try await watch.status().hasPrefix(isConnected ? "reachable" : "not reachable"))
        }
        // And messages are heard as before.
        try await uplink.setConnected(false)
        #expect(try await watch.status() == "not reachable, no route")
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.lines.count == 4)
    }
}
