import Foundation
import NetworkLab
import Testing

/// The unit file of `examples/systemd`.
@Suite struct WaitUnitTests {
    private static let path = Checkout.path("examples/systemd/reachability-wait-online.service")

    private func lines(_ key: String) throws -> [String] {
        try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n").compactMap { line in
            line.hasPrefix(key + "=") ? String(line.dropFirst(key.count + 1)) : nil
        }
    }

    @Test func `the command line of the unit file is valid`() async throws {
        let line = try #require(try lines("ExecStart").first)
        let words = line.split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/reachability")
        let uplink = try await Uplink.make()
        let result = try await Command.run(Array(words.dropFirst()), in: uplink.namespace)
        #expect(result == CommandResult(status: 0, output: "", errors: ""))
    }

    /// systemd accepts the unit file when the command is at its path.
    @Test(.enabled(if: Tools.has("systemd-analyze"))) func `systemd accepts the unit file`() async throws {
        let script = """
            d=$(mktemp -d) && trap 'rm -r $d' EXIT
            sed "s|/usr/bin/reachability|$R|" "$1" >$d/reachability-wait-online.service
            systemd-analyze verify --man=no $d/reachability-wait-online.service
            """
        let result = try await LabThread.detached { try Command.shell(script, [Self.path]).wait() }
        #expect(result.status == 0)
        let complaints = result.errors.split(separator: "\n").filter { $0.contains("reachability-wait-online") }
        #expect(complaints.isEmpty)
    }

    /// The removed privileges are not needed: the command runs without capabilities as another user.
    @Test(.enabled(if: Tools.has("setpriv") && Tools.hasOtherUsers)) func `the command works without privileges`()
        async throws
    {
        let uplink = try await Uplink.make()
        let script = """
            exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
            $R wait --timeout 30s --interface u0
            """
        let result = try await Command.run(script: script, in: uplink.namespace)
        #expect(result == CommandResult(status: 0, output: "", errors: ""))
    }
}

/// The unit files of `examples/fleet`.
@Suite struct FleetUnitTests {
    /// The units of the agent and the hub.
    private static let units = ["reachability-fleet-agent.service", "reachability-fleet-hub.service"]

    /// systemd accepts each unit file when the command is at its path, and rates its sandboxing like that of the service.
    @Test(.enabled(if: Tools.has("systemd-analyze")), arguments: units) func `systemd accepts the unit file`(
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
    func `the unit limits memory and always restarts`(unit: String) throws {
        let lines = try Checkout.text("examples/\(unit)").split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("MemoryMax=") } && lines.contains("StartLimitIntervalSec=0"))
    }

    @Test(arguments: units) func `the command line of the unit file is valid`(unit: String) async throws {
        let text = try String(contentsOfFile: FleetAuthorityLab.examples + "/" + unit, encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        // Only the broker is invalid.
        let values = [
            "${BROKER}": "http://192.0.2.1", "${SITE}": "hq", "${DEVICE}": "door-7", "%d": "/nowhere",
            "$OPTIONS": "--home-assistant",
        ]
        let filled = values.reduce(String(line.dropFirst(10))) { $0.replacing($1.key, with: $1.value) }
        let words = filled.split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/reachability")
        let result = try await Command.run(Array(words.dropFirst()))
        #expect(
            result.errors.contains("is not the address of a broker") || result.errors.contains("cannot run the fleet"),
            "\(result.errors)"
        )
    }
}
