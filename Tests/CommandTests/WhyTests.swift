import Glibc
import NetworkLab
import Testing

/// `reachability why`: whole outputs, in namespaces with an uplink to routers that are not there.
@Suite struct WhyTests {
    private static func run(_ arguments: String..., in uplink: Uplink) async throws -> CommandResult {
        let result = try await Command.run(["why"] + arguments, in: uplink.namespace)
        #expect(result.errors.isEmpty)
        return result
    }

    @Test func `the network at large`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Self.run(in: uplink)
        #expect(result.status == 0)
        #expect(
            result.output == """
                ok      vote       IPv4 8 of 8, 5 needed; IPv6 5 of 5, 3 needed
                ok      address    1.1.1.1 stands for the others
                ok      rule       32766: from all lookup main
                ok      route      default via 192.0.2.1 dev u0 table main
                ok      link       u0 (wired-virtual) up, carrier
                note    neighbour  gateway 192.0.2.1 not asked for lately, which is normal
                ok      source     192.0.2.2
                ok      verdict    reachable (ethernet or Wi-Fi), over IPv4 and IPv6

                """
        )
    }

    @Test func `status and why say the same, and a namespace can be chosen`() async throws {
        let name = try await NamedNamespace.make()
        try await name.uplink.ip("rule add pref 77 fwmark 0x7 prohibit")
        let here = try await LabThread.detached { try LabNamespace() }
        #expect(try await Command.run(["why"], in: here).status == 1)
        let arguments = ["--json", "--netns", name.name, "--mark", "7", "203.0.113.9"]
        let why = try await Command.run(["why"] + arguments, in: here)
        let status = try await Command.run(["status"] + arguments, in: here)
        #expect(why.status == 1 && why.lines.count == 1 && why.errors.isEmpty && status.status == 1)
        let (one, other) = (try JSONLine(why.output), try JSONLine(status.output))
        #expect(one["reason"] == "prohibited" && one["broken"] == "rule")
        for key in ["status", "reason", "interface", "gateway", "source", "destination", "namespace"] {
            #expect(one[key] == other[key], "\(key)")
        }
    }

    @Test func `netlink that is denied`() async throws {
        let uplink = try await Uplink.make()
        let (sandbox, command) = try await uplink.namespace.perform {
            try Sandbox.enter(denyingNetlinkWith: EPERM) { RunningCommand(try Command.start(["why", "::1"])) }
        }
        let result = try await command.result()
        #expect(result.status == 2)
        #expect(result.errors.isEmpty)
        #expect(
            result.output == """
                broken  kernel     cannot open a netlink socket: Operation not permitted
                                   -> let this program open netlink sockets: a sandbox such as RestrictAddressFamilies= of \
                systemd denies AF_NETLINK
                -       address    not reached
                -       rule       not reached
                -       route      not reached
                -       link       not reached
                -       neighbour  not reached
                -       source     not reached
                broken  verdict    unknown, netlink is not available

                """
        )
        #expect(sandbox.denials > 0)
    }

    @Test(.enabled(if: Tools.has("script"))) func `marks are coloured on a terminal, unless NO_COLOR is set`()
        async throws
    {
        let uplink = try await Uplink.make()
        let script = "R=$R script -qec '$R why 203.0.113.9' /dev/null < /dev/null"
        let coloured = try await Command.run(script: script, in: uplink.namespace)
        #expect(coloured.output.hasPrefix("\u{1b}[32mok      \u{1b}[0maddress    203.0.113.9\r\n"))
        let plain = try await Command.run(script: "NO_COLOR=1 " + script, in: uplink.namespace)
        #expect(plain.output.hasPrefix("ok      address    203.0.113.9\r\n"))
    }
}
