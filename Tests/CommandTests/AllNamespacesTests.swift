import Foundation
import NetworkLab
import Testing

/// `watch --all-netns`: the current network and every named one, as they come and go.
@Suite struct AllNamespacesTests {
    private static let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"
    private static let gone = "unknown, the network namespace is gone"

    private let machine: PrivateMachine

    init() async throws {
        machine = try await PrivateMachine.make()
    }

    /// The next line that ends so, without time and target.
    private func line(_ watch: RunningCommand, endingWith end: String) async throws -> Substring {
        while true {
            let status = try await watch.status()
            if status.hasSuffix(end) { return status.dropLast(end.count) }
        }
    }

    /// Waits for a line that says just this of a namespace.
    private func expect(_ watch: RunningCommand, _ text: String, of name: String) async throws {
        while try await line(watch, endingWith: ", namespace \(name)") != text {}
    }

    @Test func `each line says where; what comes is watched, what goes has a last line`() async throws {
        try await machine.add("amber")
        let watch = try await machine.start("watch --all-netns")
        let first = [try await watch.status(), try await watch.status()]
        #expect(Set(first) == ["not reachable, no route, current namespace", "\(Self.way), namespace amber"])
        try await machine.add("blue")
        try await expect(watch, Self.way, of: "blue")
        try await machine.sh("ip -n amber route del default")
        #expect(try await watch.status() == "not reachable, no route, namespace amber")
        try await machine.sh("ip addr add 198.51.100.2/24 dev far-amber; ip route add default via 198.51.100.1")
        #expect(try await watch.status().hasSuffix(", source 198.51.100.2, current namespace"))
        try await machine.sh("ip netns del blue")
        #expect(try await watch.status() == "\(Self.gone), namespace blue")
        #expect(try await machine.isFreed())
        try await machine.sh("ip netns del amber")
        // The default route goes with the pair.
        let last = [try await watch.status(), try await watch.status()]
        #expect(last.contains("\(Self.gone), namespace amber"))
        #expect(try await machine.isFreed())
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(await watch.restOfLines().isEmpty)
    }

    @Test func `JSON names the namespace, and null is the current one`() async throws {
        try await machine.add("blue")
        // Its loopback device is down, as `ip netns add` leaves it.
        let watch = try await machine.start("watch --all-netns --json 203.0.113.9 127.0.0.1")
        var first: [String] = []
        for _ in 0..<4 {
            let line = try JSONLine(try await watch.line())
            first.append("\(line["namespace"] ?? "-") \(line["target"] ?? "-") \(line["status"] ?? "-")")
        }
        #expect(
            Set(first) == [
                "- 203.0.113.9 notReachable", "- 127.0.0.1 reachable", "blue 203.0.113.9 reachable",
                "blue 127.0.0.1 notReachable",
            ]
        )
        try await machine.sh("ip netns del blue")
        for _ in 0..<2 {
            let line = try JSONLine(try await watch.line())
            #expect(line["namespace"] == "blue")
            #expect(line["status"] == "unknown")
            #expect(line["reason"] == "namespaceGone")
            #expect((line.members["generation"] as? Int ?? 0) > 1)
        }
        try await machine.add("cyan")
        let status = try await machine.run("", "status --netns cyan --json 203.0.113.9")
        #expect(try JSONLine(status.output)["namespace"] == "cyan")
        #expect(try JSONLine(try await machine.run("", "status --json").output)["namespace"] == nil)
    }

    @Test func `a namespace that comes, goes and is replaced is watched each time, and released`() async throws {
        let watch = try await machine.start("watch --all-netns")
        #expect(try await watch.status() == "not reachable, no interface, current namespace")
        for _ in 0..<5 {
            try await machine.add("blue")
            try await expect(watch, Self.way, of: "blue")
            try await machine.sh("ip netns del blue")
            try await expect(watch, Self.gone, of: "blue")
            #expect(try await machine.isFreed())
            try await machine.add("blue")
            try await expect(watch, Self.way, of: "blue")
            // Replaced before the watch can see that it is gone.
            try await machine.sh("ip netns del blue; ip netns add blue")
            try await expect(watch, "not reachable, no interface", of: "blue")
            try await machine.sh("ip netns del blue")
            #expect(try await machine.isFreed())
        }
    }

    @Test(arguments: ["", "blue"])
    func `without the permission to enter namespaces nothing is printed`(name: String) async throws {
        if !name.isEmpty { try await machine.add(name) }
        let result = try await machine.run(
            "setpriv --bounding-set -sys_admin --inh-caps -sys_admin",
            "watch --all-netns"
        )
        result.expectRefusal(
            "cannot enter the network namespace /proc/self/ns/net: Operation not permitted: entering another namespace"
                + " needs CAP_SYS_ADMIN",
            status: 77
        )
    }
}
