import Foundation
import NetworkLab
import Testing

/// The unit file of `examples/fleet`.
@Suite struct FleetUnitTests {
    private static let path = FleetAuthorityLab.examples + "/reachability-fleet-agent.service"

    /// systemd is content with it once the command is where it says, and finds it as closed as the service.
    @Test(.enabled(if: Tools.has("systemd-analyze"))) func `systemd takes it`() async throws {
        let script = """
            d=$(mktemp -d) && trap 'rm -r $d' EXIT
            sed "s|/usr/bin/reachability|$R|" "$1" >$d/reachability-fleet-agent.service
            systemd-analyze verify --man=no $d/reachability-fleet-agent.service
            systemd-analyze security --offline=yes --threshold=16 $d/reachability-fleet-agent.service
            """
        let result = try await LabThread.detached { try Command.shell(script, [Self.path]).wait() }
        #expect(result.status == 0, "\(result.output.suffix(400))")
        let complaints = result.errors.split(separator: "\n").filter { $0.contains("reachability-fleet-agent") }
        #expect(complaints.isEmpty)
    }

    @Test func `its command line is one of ours`() async throws {
        let text = try String(contentsOfFile: Self.path, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let values = ["${BROKER}": "mqtts://192.0.2.1", "${SITE}": "hq", "${DEVICE}": "a/b", "%d": "/nowhere"]
        let filled = values.reduce(String(line.dropFirst(10))) { $0.replacing($1.key, with: $1.value) }
        let words = filled.split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/reachability")
        let result = try await Command.run(Array(words.dropFirst()))
        // All but the name is right.
        #expect(result.errors.contains("--site and --device are names of") || result.errors.contains("no fleet"))
    }
}
