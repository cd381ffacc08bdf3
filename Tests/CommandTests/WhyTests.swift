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

    @Test func `a cable that is out`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("link set far down")
        let result = try await Self.run("203.0.113.9", in: uplink)
        #expect(result.status == 1)
        #expect(
            result.output == """
                ok      address    203.0.113.9
                ok      rule       32766: from all lookup main
                ok      route      default via 192.0.2.1 dev u0 table main
                broken  link       u0 (wired-virtual) up, no carrier
                                   -> u0 has no carrier: the other end of the virtual cable is down or gone
                -       neighbour  not reached
                -       source     not reached
                broken  verdict    not reachable, no carrier

                """
        )
    }

    @Test func `a rule that forbids, for marked packets only`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("rule add pref 77 fwmark 0x7 prohibit")
        #expect(try await Self.run("203.0.113.9", in: uplink).status == 0)
        let result = try await Self.run("--mark", "7", "203.0.113.9", in: uplink)
        #expect(result.status == 1)
        #expect(
            result.output == """
                ok      address    203.0.113.9
                broken  rule       77: from all fwmark 0x7 prohibit
                                   -> rule 77 refuses, and may be the kill switch of a VPN, which keeps packets from \
                leaving beside it: connect the VPN first; only if none is meant delete it with `ip rule del priority 77 \
                from all fwmark 0x7 prohibit`, or let it spare 203.0.113.9
                -       route      not reached
                -       link       not reached
                -       neighbour  not reached
                -       source     not reached
                broken  verdict    not reachable, prohibited by a route or rule

                """
        )
    }

    @Test func `a gateway that did not answer changes no verdict`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("neigh add 192.0.2.1 dev u0 nud failed")
        let result = try await Self.run("203.0.113.9", in: uplink)
        #expect(result.status == 0)
        let text = "gateway 192.0.2.1 failed, it did not answer: probably dead, but it will be asked again"
        #expect(result.lines.contains("note    neighbour  \(text)"))
    }

    @Test func `a tunnel whose far end cannot be reached`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        try await uplink.ip(
            "link add v0 type vxlan id 7 remote 198.51.100.9 dstport 4789",
            "addr add 10.9.0.2/24 dev v0",
            "link set v0 up",
            "route add default via 10.9.0.1"
        )
        let result = try await Self.run("203.0.113.9", in: uplink)
        #expect(result.status == 1)
        #expect(
            result.output == """
                ok      address    203.0.113.9
                ok      rule       32766: from all lookup main
                ok      route      default via 10.9.0.1 dev v0 table main
                broken  link       v0 (tunnel) up, carrier; its far end 198.51.100.9: no route
                                   -> mend the way to the far end of v0: `reachability why 198.51.100.9` tells what is wrong there
                -       neighbour  not reached
                -       source     not reached
                broken  verdict    not reachable, no route

                """
        )
    }

    @Test func `a name from the hosts file`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Self.run("localhost", in: uplink)
        #expect(result.status == 0)
        #expect(result.lines.first?.hasPrefix("ok      resolver   ") == true)
        #expect(result.lines.first?.hasSuffix("it is in /etc/hosts") == true)
        #expect(result.lines.dropFirst().first?.hasPrefix("ok      name       localhost: ") == true)
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

    @Test func `--netns asks elsewhere`() async throws {
        let name = try await NamedNamespace.make()
        let here = try await LabThread.detached { try LabNamespace() }
        #expect(try await Command.run(["why"], in: here).status == 1)
        let result = try await Command.run(["why", "--netns", name.name], in: here)
        #expect(result.status == 0)
        #expect(result.lines.contains("ok      route      default via 192.0.2.1 dev u0 table main"))
    }

    @Test(arguments: [
        (["why", "http://example.org"], "\"http://example.org\" is neither a host name nor an address"),
        (["why", "--netns", ".."], "\"..\" is no name, path or process of a network namespace"),
        (["why", "--netns", "there-is-none"], "cannot enter the network namespace /run/netns/there-is-none"),
        (["why", "a.example", "b.example"], "Error: "), (["why", "--mark", "red"], "Error: "),
    ])
    func `what makes no sense is refused`(arguments: [String], text: String) async throws {
        let result = try await Command.run(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains(text), "\(result.errors)")
    }

    @Test func `a full disk and a reader that has gone`() async throws {
        let uplink = try await Uplink.make()
        let full = try await Command.run(script: "$R why > /dev/full", in: uplink.namespace)
        #expect(full.status == 74)
        #expect(full.errors == "reachability: cannot write to standard output: No space left on device\n")
        let closed = try await Command.run(script: "{ $R why; echo $? >&2; } | true", in: uplink.namespace)
        #expect(closed.errors == "0\n")
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
