import Glibc
import NetworkLab
import Testing

/// `reachability why`: complete outputs, in namespaces with an uplink to routers that do not exist.
@Suite struct WhyTests {
    private static func run(_ arguments: String..., in uplink: Uplink) async throws -> CommandResult {
        let result = try await Command.run(["why"] + arguments, in: uplink.namespace)
        #expect(result.errors.isEmpty)
        return result
    }

    @Test func `why explains the network at large`() async throws {
        let uplink = try await Uplink.make()
        let result = try await Self.run(in: uplink)
        #expect(result.status == 0)
        #expect(
            result.output == """
                ok      vote       IPv4 8 of 8, 5 needed; IPv6 5 of 5, 3 needed
                ok      address    1.1.1.1 represents the others
                ok      rule       32766: from all lookup main
                ok      route      default via 192.0.2.1 dev u0 table main
                ok      link       u0 (wired-virtual) up, carrier
                note    neighbour  gateway 192.0.2.1 not queried recently, which is normal
                ok      source     192.0.2.2
                ok      verdict    reachable (ethernet or Wi-Fi), over IPv4 and IPv6

                """
        )
    }

    @Test func `status and why agree, and a namespace can be selected`() async throws {
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

    @Test func `denied netlink is reported as unknown`() async throws {
        let uplink = try await Uplink.make()
        let (sandbox, command) = try await uplink.namespace.perform {
            try Sandbox.enter(denyingNetlinkWith: EPERM) { RunningCommand(try Command.start(["why", "::1"])) }
        }
        let result = try await command.result()
        #expect(result.status == 2)
        #expect(result.errors.isEmpty)
        #expect(result.lines.first == "broken  kernel     cannot open a netlink socket: Operation not permitted")
        #expect(result.lines.last == "broken  verdict    unknown, netlink is not available")
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

/// Names that cannot be resolved. The steps of the resolver continue to the broken link.
@Suite struct WhyNameTests {
    private static let order = "files, dns (/etc/nsswitch.conf); not found in /etc/hosts"

    /// Runs `why a.example` until the result is the expected one. The command waits two seconds for a name, and a busy machine may need more.
    private static func why(
        in world: NameWorld,
        resolv: String = NameWorld.resolv,
        until isExpected: (CommandResult) -> Bool
    ) async throws -> CommandResult {
        var result = try await world.run("why a.example", resolv: resolv)
        _ = try await eventually {
            if !isExpected(result) { result = try await world.run("why a.example", resolv: resolv) }
            return isExpected(result)
        }
        return result
    }

    @Test func `without carrier a name is explained by the broken link`() async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.portal("203.0.113.9"))
        try await world.plug(false)
        let result = try await world.run("why a.example")
        #expect(result.status == 1)
        #expect(
            result.output == """
                ok      resolver   \(Self.order)
                note    server     192.0.2.53 over u0: no carrier
                note    name       a.example: unknown, because its name servers cannot be reached
                ok      address    192.0.2.53, the name server, is evaluated instead of the name
                ok      rule       32766: from all lookup main
                ok      route      192.0.2.0/24 dev u0 table main
                broken  link       u0 (wired-virtual) up, no carrier
                                   -> u0 has no carrier: the other end of the virtual link is down or was removed
                -       neighbour  not reached
                -       source     not reached
                broken  verdict    not reachable, no carrier

                """
        )
        #expect(server.questions.isEmpty)
        let status = try await world.run("status a.example")
        #expect(status.status == 1)
        #expect(status.output.contains(" a.example: not reachable, no carrier, interface u0"))
        let wait = try await world.run("wait a.example --timeout 10s")
        #expect(wait.status == 75)
        #expect(wait.errors.contains("a.example to be reachable: not reachable, no carrier"), "\(wait.errors)")
    }

    @Test(arguments: [
        ("link set u0 down", "link down"), ("-4 route add prohibit 192.0.2.53", "prohibited"),
        ("addr flush dev u0", "no route"),
    ])
    func `each fault on the path to the name server is explained`(command: String, reason: String) async throws {
        let world = try await NameWorld.make()
        try await world.ip(command)
        for subcommand in ["why", "status"] {
            let result = try await world.run("\(subcommand) a.example")
            #expect(result.status == 1)
            #expect(result.output.contains("not reachable, \(reason)"), "\(result.output)")
        }
    }

    @Test func `a name resolves again when the cable is reconnected`() async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.portal("203.0.113.9"))
        try await world.plug(false)
        let watch = try await world.start("watch a.example")
        while try await !watch.status(of: "a.example").hasPrefix("not reachable, no carrier") {}
        try await world.plug(true)
        while try await !watch.status(of: "a.example").hasPrefix("reachable (ethernet or Wi-Fi)") {}
        #expect(!server.questions.isEmpty)
        watch.signal(15)
    }

    @Test(arguments: [
        (NameServer.Behaviour.serverFailure, "answered SERVFAIL", "192.0.2.53 answers, but cannot resolve the name"),
        (.refused, "answered REFUSED", "192.0.2.53 refuses to answer this machine"),
        (
            NameServer.Behaviour(.code(1)), "answered FORMERR",
            "192.0.2.53 answers, but does not support the query"
        ),
        (.notImplemented, "answered NOTIMP", "192.0.2.53 answers, but does not support the query"),
        (
            .truncated(streams: .closed), "its answer is truncated and requires TCP",
            "permit TCP port 53 of 192.0.2.53 in the firewall"
        ),
        (.silent, "there is a path, but no answer", "start the name server at 192.0.2.53"),
    ])
    func `a refusing or silent name server is named`(
        answer: NameServer.Behaviour,
        summary: String,
        remedy: String
    ) async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(answer)
        let result = try await Self.why(in: world) { $0.output.contains("192.0.2.53 over u0: \(summary)") }
        #expect([1, 2].contains(result.status))
        #expect(result.lines.contains("note    server     192.0.2.53 over u0: \(summary)"), "\(result.output)")
        #expect(result.output.contains("broken  name "), "\(result.output)")
        #expect(result.output.contains("-> \(remedy)"), "\(result.output)")
        #expect(server.questions.count > 1)
        let line = try JSONLine(try await world.run("why --json a.example").output)
        #expect(line["broken"] == "name")
    }

    @Test func `a name that does not exist is the answer of the name server`() async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.ignorant)
        let result = try await Self.why(in: world) { $0.output.contains("answered NXDOMAIN") }
        #expect(!server.questions.isEmpty)
        #expect(result.status == 1)
        let answered = "ok      server     192.0.2.53 over u0: answered NXDOMAIN, the name does not exist"
        #expect(result.lines.contains { $0 == answered })
        #expect(result.output.contains("broken  name       a.example: the name does not exist, or has no address"))
        #expect(result.output.contains("-> check the spelling of a.example"))
        #expect(result.output.contains("broken  verdict    not reachable, name not resolved"))
    }

    @Test func `the second name server answers if the first is unreachable`() async throws {
        let world = try await NameWorld.make()
        let server = try await world.serve(.portal("203.0.113.9"))
        try await world.ip("-4 route add unreachable 198.51.100.53")
        let resolv = "nameserver 198.51.100.53\\n" + NameWorld.resolv
        let result = try await Self.why(in: world, resolv: resolv) { $0.status == 0 }
        #expect(result.status == 0, "\(result.output)")
        #expect(!server.questions.isEmpty)
        #expect(result.lines.contains("note    server     198.51.100.53: unreachable route"), "\(result.output)")
        #expect(result.lines.contains("ok      server     192.0.2.53 over u0: there is a path"))
    }

    @Test func `the upstream servers of systemd-resolved are shown`() async throws {
        let world = try await NameWorld.make()
        try await world.plug(false)
        let result = try await world.run(
            "why a.example",
            resolv: "nameserver 127.0.0.53\\noptions timeout:1 attempts:1\\n",
            upstream: "nameserver 192.0.2.53\\n"
        )
        #expect(result.status == 1)
        let stub = "systemd-resolved at 127.0.0.53 queries the servers in /run/systemd/resolve/resolv.conf"
        #expect(result.output.hasPrefix("ok      resolver   \(Self.order); \(stub)\n"), "\(result.output)")
        #expect(result.output.contains("broken  verdict    not reachable, no carrier"), "\(result.output)")
    }

    @Test func `a missing server and a host without a name server are explained`() async throws {
        let world = try await NameWorld.make()
        let result = try await world.run("why a.example", resolv: "# none\\n")
        #expect(result.status == 1)
        #expect(result.output.contains("no server in /etc/resolv.conf, so 127.0.0.1 is queried"), "\(result.output)")
        #expect(result.output.contains("-> add a name server to /etc/resolv.conf\n"), "\(result.output)")
        let absent = try await world.run("why a.example")
        #expect(absent.output.contains("192.0.2.53 over u0: no name server is running there"), "\(absent.output)")
        #expect(absent.output.contains("-> start the name server at 192.0.2.53"))
        try await world.plug(false)
        let away = try await world.run("why a.example", resolv: "# none\\n")
        #expect(away.status == 1 && away.output.contains("no server in /etc/resolv.conf"), "\(away.output)")
        #expect(away.output.contains("broken  verdict    not reachable, no carrier"), "\(away.output)")
    }
}
