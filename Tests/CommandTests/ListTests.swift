import Foundation
import Glibc
import NetworkLab
import Testing

/// `reachability list`: its output for terminals, pipes and programs.
@Suite struct ListTests {
    /// Creates two links with known properties.
    static func namespace() async throws -> LabNamespace {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip(
                "link set lo up",
                "link add u0 index 7 mtu 1400 type veth peer name far index 8",
                "link set u0 addrgenmode none",
                "link set far addrgenmode none",
                "link set u0 up",
                "link set far up",
                "addr add 192.0.2.2/24 dev u0",
                "addr add 192.0.2.3/24 dev u0",
                "addr add 2001:db8::2/64 dev u0 nodad",
                "addr add 2001:db8::3/64 dev u0 nodad preferred_lft 0 valid_lft forever",
                "route add default via 192.0.2.1 metric 100",
                "route add default dev u0 metric 200",
                "-6 route add default via 2001:db8::1",
                "-4 rule add from 192.0.2.3 table 1000",
                "-4 route add default via 192.0.2.9 table 1000",
                "-4 route add default via 192.0.2.8 table 1001"
            )
            return namespace
        }
    }

    private static let table = """
        INDEX  NAME  TYPE           STATE
            1  lo    loopback       up
            address 127.0.0.1/8
            address ::1/128
            7  u0    wired-virtual  up
            address 192.0.2.2/24
            address 192.0.2.3/24
            address 2001:db8::3/64 deprecated
            address 2001:db8::2/64
            default via 192.0.2.1 metric 100
            default IPv4 on link metric 200
            default via 192.0.2.9 metric 0 table 1000
            default via 2001:db8::1 metric 1024
            8  far   wired-virtual  up

        """

    @Test(arguments: [[], ["--table"], ["--no-json"]])
    func `text is printed also if standard output is not a terminal`(options: [String]) async throws {
        let namespace = try await Self.namespace()
        let result = try await Command.run(["list"] + options, in: namespace)
        #expect(result == CommandResult(status: 0, output: Self.table, errors: ""))
    }

    @Test func `--json prints one object on one line`() async throws {
        let namespace = try await Self.namespace()
        try await LabThread.detached { try namespace.ip("link set far down") }
        let expected = """
            "namespace":null,"interfaces":[{"index":1,"name":"lo","type":"loopback","kind":null,"underlyingInterfaces":[],\
            "state":"up","carrier":true,"mtu":65536,"expensive":false,"addresses":[{"address":"127.0.0.1",\
            "prefixLength":8,"marks":[]},{"address":"::1","prefixLength":128,"marks":[]}],"defaultRoutes":[]},\
            {"index":7,"name":"u0","type":"wired-virtual","kind":"veth","underlyingInterfaces":[],"state":"noCarrier",\
            "carrier":false,"mtu":1400,"expensive":false,"addresses":[{"address":"192.0.2.2","prefixLength":24,"marks":[]},\
            {"address":"192.0.2.3","prefixLength":24,"marks":[]},{"address":"2001:db8::3","prefixLength":64,\
            "marks":["deprecated"]},{"address":"2001:db8::2","prefixLength":64,"marks":[]}],"defaultRoutes":[\
            {"family":"IPv4","gateway":"192.0.2.1","metric":100,"table":254},{"family":"IPv4","gateway":null,"metric":200,\
            "table":254},{"family":"IPv4","gateway":"192.0.2.9","metric":0,"table":1000},{"family":"IPv6",\
            "gateway":"2001:db8::1","metric":1024,"table":254}]},{"index":8,"name":"far","type":"wired-virtual",\
            "kind":"veth","underlyingInterfaces":[],"state":"down","carrier":null,"mtu":1500,"expensive":false,\
            "addresses":[],"defaultRoutes":[]}],"kind":"interfaces"}

            """
        let result = try await Command.run(["list", "--json"], in: namespace)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        let head = #/\{"schema":1,"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","monotonicNanoseconds":\d+,/#
        let match = try #require(try head.prefixMatch(in: result.output))
        #expect(result.output[match.range.upperBound...] == expected)
    }

    @Test func `--netns selects a namespace by its name`() async throws {
        let name = try await NamedNamespace.make()
        let result = try await Command.run(["list", "--json", "--netns", name.name])
        #expect(result.status == 0)
        #expect(result.output.contains(#""namespace":"\#(name.name)""#))
        #expect(result.output.contains(#""name":"u0""#))
        try await Command.run(["list", "--netns", ".."])
            .expectRefusal("\"..\" is not a name, path or PID of a network namespace")
        let missing = try await Command.run(["list", "--netns", "there-is-none"])
        #expect(missing.status == 64)
        #expect(missing.errors.hasPrefix("reachability: cannot enter the network namespace /run/netns/there-is-none: "))
    }

    @Test func `an error is reported if netlink is not available`() async throws {
        let (sandbox, result) = try await LabThread.detached {
            try Sandbox.enter(denyingNetlinkWith: EAFNOSUPPORT) { () throws -> CommandResult in
                let result = try Command.start(["list"]).wait()
                return CommandResult(status: result.status, output: result.output, errors: result.errors)
            }
        }
        withExtendedLifetime(sandbox) {}
        result.expectRefusal(
            "cannot open a netlink socket: Address family not supported by protocol",
            status: 69
        )
    }
}

/// `reachability list --watch`: a new output for each change, and no output without a change.
@Suite struct ListWatchTests {
    private func object(_ line: String) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["interfaces"] as? [[String: Any]])
    }

    /// Returns the next object in which the interface `u0` has the expected properties.
    private func next(
        _ watch: RunningCommand,
        where isWanted: ([String: Any]) -> Bool
    ) async throws {
        while true {
            let interfaces = try object(try await watch.line())
            if let u0 = interfaces.first(where: { $0["name"] as? String == "u0" }), isWanted(u0) { return }
        }
    }

    @Test func `a pipe gets an object for each change`() async throws {
        let namespace = try await ListTests.namespace()
        let watch = try await RunningCommand.start(["list", "--watch", "--json"], in: namespace)
        try await next(watch) { $0["state"] as? String == "up" }
        try await LabThread.detached { try namespace.ip("link set far down") }
        try await next(watch) { $0["state"] as? String == "noCarrier" && $0["carrier"] as? Bool == false }
        try await LabThread.detached { try namespace.ip("addr add 198.51.100.7/32 dev u0") }
        try await next(watch) { ($0["addresses"] as? [Any])?.count == 5 }
        try await LabThread.detached { try namespace.ip("route del default via 192.0.2.1") }
        try await next(watch) { ($0["defaultRoutes"] as? [Any])?.count == 3 }
        try await LabThread.detached { try namespace.ip("link add later type veth peer name later2") }
        while try object(try await watch.line()).count < 5 {}
        let result = try await watch.result(after: SIGTERM)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        // Changes of properties that are not shown print nothing.
        #expect(Set(result.lines.map { $0.drop { $0 != "n" } }).count == result.lines.count)
    }

    @Test func `a terminal is redrawn in place`() async throws {
        let namespace = try await ListTests.namespace()
        let script = "NO_COLOR=1 exec script -qefc \"$R list --watch\" /dev/null </dev/null"
        let watch = try await RunningCommand.start(script: script, in: namespace)
        let start = try await watch.line()
        #expect(start.hasPrefix("\u{1b}[H\u{1b}[JINDEX  NAME  TYPE "))
        while try await !watch.line().contains("8  far ") {}
        try await LabThread.detached { try namespace.ip("link set far down") }
        while try await !watch.line().hasPrefix("\u{1b}[H\u{1b}[JINDEX  NAME  TYPE ") {}
        while try await !watch.line().contains("  u0    wired-virtual  no carrier") {}
        _ = try await watch.result(after: SIGTERM)
    }
}
