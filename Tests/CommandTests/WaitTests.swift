import Foundation
import Glibc
import NetworkLab
import Testing

/// `reachability wait`: its end, and its output at the end.
@Suite struct WaitTests {
    private static let success = CommandResult(status: 0, output: "", errors: "")

    private static func offline() async throws -> LabNamespace {
        try await LabThread.detached { try LabNamespace() }
    }

    @Test(arguments: [
        [], ["203.0.113.9"], ["--for", "ethernet"], ["--route", "default"], ["--route", "2001:db8:9::/48"],
        ["--interface", "u0"], ["--dns", "localhost"], ["--any", "--for", "wwan", "--interface", "u0"],
        ["203.0.113.9", "::1", "--interface", "u0", "--route", "10.0.0.0/8", "--stable", "300ms", "--timeout", "1m"],
        ["--timeout", "0s"],
    ])
    func `a condition that holds ends the wait immediately`(arguments: [String]) async throws {
        let uplink = try await Uplink.make()
        #expect(try await Command.run(["wait"] + arguments, in: uplink.namespace) == Self.success)
    }

    @Test func `an invalid argument is refused`() async throws {
        try await Command.run(["wait", "--interface", "a/b"]).expectRefusal("\"a/b\" is not the name of an interface")
        let sentence = "--dns takes a name, and 192.0.2.1 is an address; did you mean: reachability wait 192.0.2.1"
        try await Command.run(["wait", "--dns", "192.0.2.1"]).expectRefusal(sentence)
        let host = try await Command.run(["wait", "http://example.org"])
        #expect(host.status == 64)
        #expect(host.errors.hasPrefix("reachability: \"http://example.org\" is neither a host name nor an address"))
        let name = try await NamedNamespace.make()
        #expect(try await Command.run(["wait", "--netns", name.name, "--interface", "u0"]) == Self.success)
    }

    @Test func `a timeout is exit status 75 with a reason for each condition`() async throws {
        let namespace = try await Self.offline()
        let arguments = [
            "wait", "203.0.113.9", "--interface", "eth0", "--route", "10.0.0.0/8", "--dns", "no.example", "--timeout",
            "10s",
        ]
        let result = try await Command.run(arguments, in: namespace)
        #expect(result.status == 75)
        #expect(result.output.isEmpty)
        let name = result.errors.split(separator: "\n").dropFirst().first
        #expect(
            name == "reachability: timeout after 10s while waiting for the name no.example to resolve: no interface"
        )
        let others = result.errors.split(separator: "\n").filter { $0 != name }
        #expect(
            others == [
                "reachability: timeout after 10s while waiting for 203.0.113.9 to be reachable: not reachable, no interface",
                "reachability: timeout after 10s while waiting for a route to 10.0.0.0/8: no route",
                "reachability: timeout after 10s while waiting for interface eth0: no interface",
            ]
        )
        let uplink = try await Uplink.make()
        let brief = try await Command.run(["wait", "--stable", "1m", "--timeout", "300ms"], in: uplink.namespace)
        let errors = "reachability: timeout after 300ms while waiting for the conditions to last 1m\n"
        #expect(brief == CommandResult(status: 75, output: "", errors: errors))
        let lost = try await Command.run(
            ["wait", "--for", "not-reachable", "--timeout", "300ms"],
            in: uplink.namespace
        )
        let way = "reachable (ethernet or Wi-Fi), interface u0, gateway 192.0.2.1, source 192.0.2.2"
        #expect(lost.status == 75)
        #expect(
            lost.errors
                == "reachability: timeout after 300ms while waiting for the network not to be reachable: \(way)\n"
        )
    }

    @Test func `wait ends with the expected change`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let waits = try await [[], ["--route", "default"], ["198.51.100.7", "--stable", "300ms"]].asyncMap {
            try await RunningCommand.start(["wait"] + $0, in: uplink.namespace)
        }
        let arguments = ["wait", "--for", "not-reachable", "127.0.0.1"]
        let gone = try await RunningCommand.start(arguments, in: uplink.namespace)
        for wait in waits + [gone] { try await ThreadActivity(of: wait.identifier).waitForRest(of: .milliseconds(400)) }
        try await uplink.setConnected(true)
        for wait in waits { #expect(try await wait.result() == Self.success) }
        try await uplink.ip("link set lo down")
        #expect(try await gone.result() == Self.success)
    }

    @Test(arguments: [
        (["wait", "203.0.113.9", "--interface", "no0", "--route", "10.0.0.0/8", "--timeout", "10m"], CInt(143)),
        (["list", "--watch", "--json"], CInt(0)),
    ])
    func `the process sleeps while nothing changes, also if routes to other destinations change`(
        words: [String],
        status: CInt
    ) async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let wait = try await RunningCommand.start(words, in: uplink.namespace)
        if status == 0 { _ = try await wait.line() }
        let activity = ThreadActivity(of: wait.identifier)
        try await activity.waitForRest()
        let before = try activity.switches
        _ = await wait.restOfLines()
        let routes = (0..<100).map { "route add 172.16.\($0).0/24 via 192.0.2.1" }
        try await LabThread.detached { try uplink.namespace.ip(routes) }
        // A quiet period in which nothing may happen.
        try await Task.sleep(for: .seconds(1))
        #expect(try activity.switches == before)
        #expect(await wait.restOfLines().isEmpty)
        // list also ends with its reader.
        if status == 0 { await wait.closeOutput() } else { wait.signal(SIGTERM) }
        #expect(try await wait.result(reading: false).status == status)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal ends the command with 128 plus its number`(signal: CInt) async throws {
        let namespace = try await Self.offline()
        let wait = try await RunningCommand.start(["wait", "--json"], in: namespace)
        // Before the command blocks signals, they end it as any process. The thread that waits for signals does not show this.
        let tasks = "/proc/\(wait.identifier)/task"
        try await waitUntil {
            try FileManager.default.contentsOfDirectory(atPath: tasks).contains { thread in
                let status = (try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("SigBlk:") }
                let mask = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
                return mask & 0x4002 == 0x4002
            }
        }
        #expect(try await wait.result(after: signal) == CommandResult(status: 128 + signal, output: "", errors: ""))
    }

    @Test func `--json prints the result as one object`() async throws {
        let uplink = try await Uplink.make(isConnected: false)
        let arguments = ["wait", "--json", "--timeout", "200ms", "--interface", "u0", "--for", "reachable"]
        let late = try await Command.run(arguments, in: uplink.namespace)
        #expect(late.status == 75)
        let head = #/\{"schema":1,"time":"[^"]+","monotonicNanoseconds":\d+,/#
        let time = #/"waitedMilliseconds":\d+,/#
        let interface = #"{"condition":"interface","value":"u0","for":null,"holds":true,"reason":null,"text":"usable"}"#
        #expect(
            late.output.replacing(head, with: "").replacing(time, with: "") == """
                "namespace":null,"outcome":"timedOut","conditions":[{"condition":"network","value":null,"for":"reachable",\
                "holds":false,"reason":"noRoute","text":"not reachable, no route"},\(interface)],"kind":"wait"}

                """
        )
        #expect(
            late.errors
                == "reachability: timeout after 200ms while waiting for the network to be reachable: not reachable, no route\n"
        )
        let held = try await Command.run(["wait", "--json", "--interface", "u0"], in: uplink.namespace)
        #expect(held.status == 0)
        #expect(held.errors.isEmpty)
        #expect(
            held.output.replacing(head, with: "").replacing(time, with: "")
                == #""namespace":null,"outcome":"held","conditions":[\#(interface)],"kind":"wait"}"# + "\n"
        )
    }

    @Test func `a user at a terminal sees the missing conditions`() async throws {
        let namespace = try await Self.offline()
        let script = "script -qec \"$R wait --timeout 3s\" /dev/null </dev/null | tr -d '\\r'"
        let result = try await Command.run(script: script, in: namespace)
        let what = "the network to be reachable: not reachable, no interface"
        #expect(
            result.output
                == "reachability: waiting for \(what)\nreachability: timeout after 3s while waiting for \(what)\n"
        )
    }
}

extension Array {
    /// Maps the elements one after the other.
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
