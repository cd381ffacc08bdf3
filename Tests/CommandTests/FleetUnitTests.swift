import Foundation
import NetworkLab
import Testing

/// The unit files of `examples/fleet`.
@Suite struct FleetUnitTests {
    /// Of the agent and of the hub.
    private static let units = ["reachability-fleet-agent.service", "reachability-fleet-hub.service"]

    /// systemd is content with each once the command is where it says, and finds it as closed as the service.
    @Test(.enabled(if: Tools.has("systemd-analyze")), arguments: units) func `systemd takes it`(
        unit: String
    ) async throws {
        let script = """
            d=$(mktemp -d) && trap 'rm -r $d' EXIT
            sed "s|/usr/bin/reachability|$R|" "$1" >$d/$2
            systemd-analyze verify --man=no $d/$2
            systemd-analyze security --offline=yes --threshold=16 $d/$2
            """
        let path = FleetAuthorityLab.examples + "/" + unit
        let result = try await LabThread.detached { try Command.shell(script, [path, unit]).wait() }
        #expect(result.status == 0, "\(result.output.suffix(400))")
        let complaints = result.errors.split(separator: "\n").filter { $0.contains(unit) }
        #expect(complaints.isEmpty)
    }

    @Test(arguments: units.map { "fleet/" + $0 } + ["systemd/reachability.service"])
    func `it has a limit of memory, and is started again however often it fails`(unit: String) throws {
        let folder = URL(filePath: FleetAuthorityLab.examples).deletingLastPathComponent().path
        let lines = try String(contentsOfFile: "\(folder)/\(unit)", encoding: .utf8).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("MemoryMax=") } && lines.contains("StartLimitIntervalSec=0"))
    }

    @Test(arguments: units) func `its command line is one of ours`(unit: String) async throws {
        let text = try String(contentsOfFile: FleetAuthorityLab.examples + "/" + unit, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        // All but the broker is right.
        let values = ["${BROKER}": "http://192.0.2.1", "${SITE}": "hq", "${DEVICE}": "door-7", "%d": "/nowhere"]
        let filled = values.reduce(String(line.dropFirst(10))) { $0.replacing($1.key, with: $1.value) }
        let words = filled.split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/reachability")
        let result = try await Command.run(Array(words.dropFirst()))
        #expect(
            result.errors.contains("is no address of a broker") || result.errors.contains("no fleet"),
            "\(result.errors)"
        )
    }
}
