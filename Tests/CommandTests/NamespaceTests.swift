import Foundation
import Glibc
import NetworkLab
import Testing

/// `--netns`: queries in another network namespace.
@Suite struct NamespaceTests {
    private static let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"

    @Test func `a namespace is selected by its name, its path or a process in it`() async throws {
        // A name of digits has priority over a process.
        let name = try await NamedNamespace.make("\(getpid())")
        let here = try await LabThread.detached { try LabNamespace() }
        #expect(try await Command.run(["status"], in: here).status == 1)
        let result = try await Command.run(["status", "--netns", name.name], in: here)
        #expect(result.status == 0)
        #expect(result.output.hasSuffix(" network: \(Self.way), over IPv4 and IPv6\n"))
        let inside = try await RunningCommand.start(script: "echo; exec sleep 1000", in: name.uplink.namespace)
        defer { inside.signal(SIGKILL) }
        _ = try await inside.line()
        for text in [name.uplink.namespace.path, "\(inside.identifier)", "/proc/\(inside.identifier)/ns/net"] {
            let result = try await Command.run(["status", "--netns", text, "203.0.113.9"], in: here)
            #expect(result.output.hasSuffix(" 203.0.113.9: \(Self.way)\n"), "\(text): \(result.errors)")
        }
        try await name.uplink.setConnected(false)
        #expect(try await Command.run(["status", "--netns", name.name], in: here).status == 1)
    }

    @Test func `status --all-netns queries every named namespace, and the worst status decides`() async throws {
        let (one, two) = (try await NamedNamespace.make(), try await NamedNamespace.make())
        try await two.uplink.setConnected(false)
        let here = try await Uplink.make()
        let result = try await Command.run(["status", "--all-netns", "203.0.113.9"], in: here.namespace)
        #expect(result.status == 1)
        #expect(result.lines.first?.hasSuffix(" 203.0.113.9: \(Self.way), current namespace") == true)
        #expect(result.lines.contains { $0.hasSuffix(" 203.0.113.9: \(Self.way), namespace \(one.name)") })
        #expect(result.lines.contains { $0.hasSuffix(" 203.0.113.9: not reachable, no route, namespace \(two.name)") })
    }

    @Test func `a namespace uses its own files instead of those in etc`() async throws {
        let name = try await NamedNamespace.make()
        // The command runs in its own mount namespace, so that the files of the machine are not changed.
        func run(_ arguments: String) async throws -> CommandResult {
            let files = [
                "mount -t tmpfs tmpfs /etc", "mkdir -p /etc/netns/\(name.name)",
                "echo hosts: files > /etc/nsswitch.conf",
                "echo 127.0.0.1 localhost > /etc/hosts",
                "echo 203.0.113.9 own.example > /etc/netns/\(name.name)/hosts",
                "echo 127.0.0.1 local.example >> /etc/netns/\(name.name)/hosts",
                "echo 203.0.113.9 xn--bcher-kva.example >> /etc/netns/\(name.name)/hosts",
            ]
            let script = files.joined(separator: " && ")
            return try await Command.run(script: "exec unshare --mount sh -c \"\(script) && exec $R \(arguments)\"")
        }
        #expect(try await run("status own.example").status != 0)
        let there = try await run("status --netns \(name.name) own.example")
        #expect(there.status == 0)
        #expect(there.output.contains(" own.example: \(Self.way)"), "\(there)")
        // The name lookup of the C library finds these files too.
        #expect(try await run("wait --netns \(name.name) --dns own.example --timeout 30s").status == 0)
        let international = try await run("status --netns \(name.name) bücher.example")
        #expect(international.status == 0 && international.output.contains(" bücher.example: \(Self.way)"))
        #expect(try await run("wait --netns \(name.name) --dns bücher.example --timeout 30s").status == 0)
        // The name is resolved, although no server listens at the address.
        for command in ["pin", "trust"] {
            let stranger = try await run("\(command) --netns \(name.name) strange.example:9")
            #expect(stranger.status == 69 && !stranger.errors.contains("onnection refused"), "\(stranger)")
            let asked = try await run("\(command) --netns \(name.name) local.example:9")
            #expect(asked.status == 69 && asked.errors.contains("onnection refused"), "\(asked)")
        }
    }

    @Test func `a namespace is found later if no file descriptor is free at first`() async throws {
        var name = try await NamedNamespace.make()
        let text = name.name
        let watch = try await RunningCommand.start(["watch", "--netns", text])
        #expect(try await watch.status() == Self.way)
        try watch.limitDescriptors(to: 3)
        name.delete()
        #expect(try await watch.status() == "unknown, the network namespace is gone")
        name = try await NamedNamespace.make(text)
        try watch.limitDescriptors(to: 256)
        var last = try await watch.status()
        while last != Self.way { last = try await watch.status() }
        #expect(try await watch.result(after: SIGTERM).status == 0)
    }
}

/// `watch --all-netns`: the current namespace and every named one, also when namespaces are created and deleted.
@Suite struct AllNamespacesTests {
    private static let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"
    private static let gone = "unknown, the network namespace is gone"

    private let machine: PrivateMachine

    init() async throws {
        machine = try await PrivateMachine.make()
    }

    /// Returns the next line with this end, without its time and target.
    private func line(_ watch: RunningCommand, endingWith end: String) async throws -> Substring {
        while true {
            let status = try await watch.status()
            if status.hasSuffix(end) { return status.dropLast(end.count) }
        }
    }

    /// Waits for a line with exactly this text about a namespace.
    private func expect(_ watch: RunningCommand, _ text: String, of name: String) async throws {
        while try await line(watch, endingWith: ", namespace \(name)") != text {}
    }

    @Test func `each line names the namespace, a new namespace is watched, and a deleted one has a last line`()
        async throws
    {
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
        // The default route disappears with the pair of links.
        let last = [try await watch.status(), try await watch.status()]
        #expect(last.contains("\(Self.gone), namespace amber"))
        #expect(try await machine.isFreed())
        let result = try await watch.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(await watch.restOfLines().isEmpty)
    }

    @Test func `JSON contains the name of the namespace, and null for the current one`() async throws {
        try await machine.add("blue")
        // Its loopback interface is down, as after `ip netns add`.
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

    @Test func `files that are not network namespaces are reported, and the namespaces are queried`() async throws {
        try await machine.add("blue")
        try await machine.sh("touch /run/netns/stale; ln -s /nowhere /run/netns/dangling")
        let lines = ["dangling", "stale"].map { "reachability: /run/netns/\($0) is not a network namespace\n" }
        let status = try await machine.run("", "status --all-netns 203.0.113.9")
        #expect(status.output.hasSuffix("\(Self.way), namespace blue\n") && status.errors == lines.joined())
        let watch = try await machine.start("watch --all-netns")
        try await expect(watch, Self.way, of: "blue")
        watch.signal(SIGTERM)
        #expect(try await watch.result().errors == lines.joined())
    }

    @Test(arguments: ["", "blue"])
    func `without the permission to enter namespaces nothing is printed`(name: String) async throws {
        if !name.isEmpty { try await machine.add(name) }
        let result = try await machine.run(
            "setpriv --bounding-set -sys_admin --inh-caps -sys_admin",
            "watch --all-netns"
        )
        result.expectRefusal(
            "cannot enter the network namespace /proc/self/ns/net: Operation not permitted; entering another namespace"
                + " needs CAP_SYS_ADMIN",
            status: 77
        )
    }
}
