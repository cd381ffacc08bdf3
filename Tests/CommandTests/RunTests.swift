import Glibc
import NetworkLab
import Testing

/// `reachability run`: a command at each change, with the state in its environment.
@Suite struct RunTests {
    /// Prints the state and the one before.
    private static let tell = #"echo "${REACHABILITY_TARGET:-network}: $REACHABILITY_PREVIOUS > $REACHABILITY_STATUS""#

    @Test func `a command at each change, its output passed through and its end logged`() async throws {
        let uplink = try await Uplink.make()
        let run = try await RunningCommand.start(
            ["run", "--initial", "--", "sh", "-c", Self.tell + "; echo said >&2; exit 3", "x"],
            in: uplink.namespace
        )
        #expect(try await run.line() == "network:  > reachable")
        try await uplink.setConnected(false)
        #expect(try await run.line() == "network: reachable > not-reachable")
        try await uplink.setConnected(true)
        #expect(try await run.line() == "network: not-reachable > reachable")
        try await run.untilErrors(contain: "exit status", times: 3)
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0)
        #expect(result.lines.count == 3)
        #expect(
            result.errorsWithoutDurations
                == String(repeating: "said\nreachability: network: sh: exit status 3 after TIME\n", count: 3)
        )
    }

    @Test func `without --initial the first state is where changes begin`() async throws {
        let uplink = try await Uplink.make()
        // The same host twice is one target.
        let run = try await start(["--host", "203.0.113.9", "--host", "203.0.113.9"], in: uplink)
        try await uplink.setConnected(false)
        #expect(try await run.line() == "203.0.113.9: reachable > not-reachable")
        try await end(run, lines: 1)
    }

    @Test func `--on chooses the changes`() async throws {
        let uplink = try await Uplink.make()
        let run = try await start(["--on", "not-reachable"], in: uplink)
        for ignored in 2...3 {
            try await uplink.setConnected(false)
            #expect(try await run.line() == "network: reachable > not-reachable")
            // The option excludes this change.
            try await uplink.setConnected(true)
            try await run.untilErrors(contain: "nothing to run", times: ignored)
        }
        try await end(run, lines: 2)
    }

    @Test func `the newest state wins while a command runs`() async throws {
        let (uplink, scratch) = (try await Uplink.make(), try ScratchDirectory())
        try scratch.makeFifo("fifo")
        // The second target shows how far things are, and is never held up.
        let script =
            Self.tell + "; if [ $REACHABILITY_TARGET = 203.0.113.1 ]; then read line < \(scratch.path)/fifo; fi"
        let run = try await RunningCommand.start(
            ["run", "--initial", "203.0.113.1", "--host", "203.0.113.2", "--", "sh", "-c", script],
            in: uplink.namespace
        )
        let first = [try await run.line(), try await run.line()].sorted()
        #expect(first == ["203.0.113.1:  > reachable", "203.0.113.2:  > reachable"])
        for isConnected in [false, true, false] {
            try await uplink.setConnected(isConnected)
            let change = isConnected ? "not-reachable > reachable" : "reachable > not-reachable"
            #expect(try await run.line() == "203.0.113.2: \(change)")
        }
        try await scratch.release("fifo")
        #expect(try await run.line() == "203.0.113.1: reachable > not-reachable")
        // Back where that run was begun: no news.
        for isConnected in [true, false] {
            try await uplink.setConnected(isConnected)
            #expect(try await run.line().hasPrefix("203.0.113.2: "))
        }
        try await scratch.release("fifo")
        try await run.untilErrors(contain: "203.0.113.1: sh: exit status 0", times: 2)
        try await uplink.setConnected(true)
        let last = [try await run.line(), try await run.line()].sorted()
        #expect(last == ["203.0.113.1: not-reachable > reachable", "203.0.113.2: not-reachable > reachable"])
        run.signal(SIGTERM)
        #expect(try await run.result().lines.count == 10)
    }

    @Test func `--settle passes over what does not last`() async throws {
        let uplink = try await Uplink.make()
        let run = try await start(["--settle", "10s"], in: uplink)
        try await uplink.ip(
            "link set u0 down",
            "link set u0 up",
            "route add default via 192.0.2.1",
            "addr add 2001:db8::2/64 dev u0 nodad",
            "route add default via 2001:db8::1"
        )
        try await uplink.setConnected(false)
        #expect(try await run.line() == "network: reachable > not-reachable")
        try await end(run, lines: 1)
    }

    @Test func `everything that is known is in the environment`() async throws {
        let name = try await NamedNamespace.make()
        let run = try await RunningCommand.start([
            "run", "--initial", "--netns", name.name, "--target", "203.0.113.9", "--", "sh", "-c",
            "env | grep ^REACHABILITY_ | grep -v ^REACHABILITY_BINARY= | LC_ALL=C sort; echo .",
        ])
        #expect(
            try await environment(run)
                == """
                CONNECTION_TYPE=ethernetOrWiFi
                DESTINATION=203.0.113.9
                FLAGS=reachable
                GATEWAY=192.0.2.1
                GENERATION=1
                INTERFACE=u0
                INTERFACE_TYPE=wired-virtual
                NAMESPACE=\(name.name)
                PREVIOUS=
                REASON=
                SOURCE=192.0.2.2
                STATUS=reachable
                TARGET=203.0.113.9
                """
        )
        try await name.uplink.ip("link set far down")
        #expect(
            try await environment(run)
                == """
                CONNECTION_TYPE=
                DESTINATION=203.0.113.9
                FLAGS=
                GATEWAY=192.0.2.1
                GENERATION=2
                INTERFACE=u0
                INTERFACE_TYPE=wired-virtual
                NAMESPACE=\(name.name)
                PREVIOUS=reachable
                REASON=noCarrier
                SOURCE=192.0.2.2
                STATUS=not-reachable
                TARGET=203.0.113.9
                """
        )
        run.signal(SIGTERM)
        #expect(try await run.result().status == 0)
    }

    /// Starts `run` with the telling command, and waits until it knows the first state.
    private func start(_ options: [String], in uplink: Uplink) async throws -> RunningCommand {
        let arguments = ["run", "--verbose"] + options + ["--", "sh", "-c", Self.tell]
        let run = try await RunningCommand.start(arguments, in: uplink.namespace)
        try await run.untilErrors(contain: "nothing to run", times: 1)
        return run
    }

    private func end(_ run: RunningCommand, lines: Int) async throws {
        run.signal(SIGTERM)
        let result = try await run.result()
        #expect(result.status == 0)
        #expect(result.lines.count == lines)
    }

    private func environment(_ run: RunningCommand) async throws -> String {
        var lines: [String] = []
        while let line = Optional(try await run.line()), line != "." {
            lines.append(String(line.dropFirst("REACHABILITY_".count)))
        }
        return lines.joined(separator: "\n")
    }
}
