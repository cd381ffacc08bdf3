import Glibc
import NetworkLab
import Testing

/// `reachability retry`: a command until it succeeds, and no attempt while the network is away.
@Suite struct RetryTests {
    @Test func `no attempt while the cable is out, and one right when it is back`() async throws {
        let uplink = try await Uplink.make()
        try await uplink.ip("link set far down")
        let script = "echo $REACHABILITY_ATTEMPT $REACHABILITY_STATUS; [ $REACHABILITY_STATUS = reachable ] || exit 6"
        let retry = try await RunningCommand.start(
            ["retry", "203.0.113.9", "--", "sh", "-c", script],
            in: uplink.namespace
        )
        #expect(try await retry.line() == "1 not-reachable")
        try await retry.untilErrors(contain: "waits until reachable: no carrier")
        // What else happens is no reason.
        try await uplink.ip("addr add 198.51.100.7/32 dev lo", "link set u0 mtu 1400", "route add 10.0.0.0/8 dev u0")
        try await uplink.ip("link set far up")
        #expect(try await retry.line() == "2 reachable")
        let result = try await retry.result()
        #expect(result.status == 0 && result.lines.count == 2)
        #expect(
            result.errorsWithoutDurations
                == """
                reachability: 203.0.113.9: sh: exit status 6 after TIME, attempt 1 of 10, waits until reachable: no carrier
                reachability: 203.0.113.9: sh: exit status 0 after TIME, attempt 2 of 10

                """
        )
    }

    @Test func `it waits for the route, then by the clock`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let script = "echo $REACHABILITY_PREVIOUS.$REACHABILITY_STATUS; exit 1"
        let retry = try await RunningCommand.start(
            ["retry", "--target", "203.0.113.9", "--attempts", "4", "--", "sh", "-c", script],
            in: uplink.namespace
        )
        #expect(try await retry.line() == ".not-reachable")
        try await retry.untilErrors(contain: "waits until reachable: no route")
        try await uplink.setConnected(true)
        #expect(try await retry.line() == "not-reachable.reachable")
        // From here on by the clock, 0.5 s, 1 s at most.
        #expect(try await retry.line() == "reachable.reachable")
        #expect(try await retry.line() == "reachable.reachable")
        let result = try await retry.result()
        #expect(result.status == 1)
        #expect(
            withoutWaits(result)
                == """
                reachability: 203.0.113.9: sh: exit status 1 after TIME, attempt 1 of 4, waits until reachable: no route
                reachability: 203.0.113.9: sh: exit status 1 after TIME, attempt 2 of 4, waits TIME
                reachability: 203.0.113.9: sh: exit status 1 after TIME, attempt 3 of 4, waits TIME
                reachability: 203.0.113.9: sh: exit status 1 after TIME, attempt 4 of 4, gives up

                """
        )
    }

    @Test func `output passes through, and what is known is in the environment`() async throws {
        let uplink = try await Uplink.make()
        let script = """
            env | grep ^REACHABILITY_ | grep -v ^REACHABILITY_BINARY= | LC_ALL=C sort
            echo said >&2
            exit $((2 - $REACHABILITY_ATTEMPT))
            """
        let retry = try await RunningCommand.start(
            ["retry", "--attempts", "3", "--target", "203.0.113.9", "--", "sh", "-c", script],
            in: uplink.namespace
        )
        let result = try await retry.result()
        #expect(result.status == 0)
        func variables(_ attempt: Int, previous: String, exitStatus: String) -> String {
            """
            REACHABILITY_ATTEMPT=\(attempt)
            REACHABILITY_ATTEMPTS=3
            REACHABILITY_CONNECTION_TYPE=ethernetOrWiFi
            REACHABILITY_DESTINATION=203.0.113.9
            REACHABILITY_EXIT_STATUS=\(exitStatus)
            REACHABILITY_FLAGS=reachable
            REACHABILITY_GATEWAY=192.0.2.1
            REACHABILITY_GENERATION=1
            REACHABILITY_INTERFACE=u0
            REACHABILITY_INTERFACE_TYPE=wired-virtual
            REACHABILITY_NAMESPACE=
            REACHABILITY_PREVIOUS=\(previous)
            REACHABILITY_REASON=
            REACHABILITY_SOURCE=192.0.2.2
            REACHABILITY_STATUS=reachable
            REACHABILITY_TARGET=203.0.113.9

            """
        }
        #expect(
            result.output
                == variables(1, previous: "", exitStatus: "") + variables(2, previous: "reachable", exitStatus: "1")
        )
        #expect(
            withoutWaits(result)
                == """
                said
                reachability: 203.0.113.9: sh: exit status 1 after TIME, attempt 1 of 3, waits TIME
                said
                reachability: 203.0.113.9: sh: exit status 0 after TIME, attempt 2 of 3

                """
        )
    }

    @Test(arguments: [
        (["--on-exit", "6,28"], "exit 7", 7, 1), (["--on-exit", "1-5,7-9"], "exit 7", 7, 3), ([], "exit 255", 255, 3),
        ([], "kill -9 $$", 137, 1), (["--on-exit", "137"], "kill -9 $$", 137, 3),
    ])
    func `--on-exit chooses what is retried`(
        options: [String],
        script: String,
        status: CInt,
        attempts: Int
    ) async throws {
        let arguments = ["retry", "--quiet", "--attempts", "3"] + options + ["--", "sh", "-c", "echo; \(script)"]
        let result = try await Command.run(arguments, in: try await Uplink.make().namespace)
        #expect(result == CommandResult(status: status, output: String(repeating: "\n", count: attempts), errors: ""))
    }

    @Test func `another network namespace is asked in, and the command stays here`() async throws {
        let name = try await NamedNamespace.make()
        let result = try await Command.run([
            "retry", "--netns", name.name, "--attempts", "1", "--", "sh", "-c",
            "echo $REACHABILITY_INTERFACE; ip link show u0",
        ])
        #expect(result.status == 1 || result.status == 255)
        #expect(result.lines.first == "u0")
    }

    @Test(arguments: [3, 2]) func `a name that does not exist is tried as often as asked for`(
        attempts: Int
    ) async throws {
        let machine = try await PrivateMachine.make()
        // A name server that refuses at once.
        try await machine.sh(
            "printf 'nameserver 127.0.0.1\\n' >/run/resolv.conf; mount --bind /run/resolv.conf /etc/resolv.conf"
        )
        let options = "--target no-such-name.invalid --attempts \(attempts) --deadline 60s"
        let result = try await machine.run("", "retry \(options) -- sh -c 'exit 7'")
        #expect(result.status == 7)
        let lines = result.errors.split(separator: "\n")
        #expect(
            lines.count == attempts && lines.last?.hasSuffix(", attempt \(attempts) of \(attempts), gives up") == true
        )
        #expect(lines.dropLast().allSatisfy { $0.contains(", waits 0.") })
    }

    private func withoutWaits(_ result: CommandResult) -> String {
        result.errorsWithoutDurations.replacing(#/ waits \d+\.\d{3}s/#, with: " waits TIME")
    }
}
