import Foundation
import Glibc
import NetworkLab
import Testing

/// `reachability list --watch`: again whenever anything changes, and only then.
@Suite struct ListWatchTests {
    private func object(_ line: String) throws -> [[String: Any]] {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?["interfaces"] as? [[String: Any]])
    }

    /// The next object in which the interface `u0` is as it is wanted.
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
        watch.signal(SIGTERM)
        let result = try await watch.result()
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        // Changes of what is not shown are none.
        #expect(Set(result.lines.map { $0.drop { $0 != "n" } }).count == result.lines.count)
    }

    @Test func `a terminal is drawn anew`() async throws {
        let namespace = try await ListTests.namespace()
        let script = "NO_COLOR=1 exec script -qefc \"$R list --watch\" /dev/null </dev/null"
        let watch = try await RunningCommand.start(script: script, in: namespace)
        let start = try await watch.line()
        #expect(start.hasPrefix("\u{1b}[H\u{1b}[JINDEX  NAME  TYPE "))
        while try await !watch.line().contains("8  far ") {}
        try await LabThread.detached { try namespace.ip("link set far down") }
        while try await !watch.line().hasPrefix("\u{1b}[H\u{1b}[JINDEX  NAME  TYPE ") {}
        while try await !watch.line().contains("  u0    wired-virtual  no carrier") {}
        watch.signal(SIGTERM)
        _ = try await watch.result()
    }
}
