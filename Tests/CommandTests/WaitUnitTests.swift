import Foundation
import NetworkLab
import Testing

/// The unit file of `examples/systemd`.
@Suite struct WaitUnitTests {
    private static let path =
        #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        + "/examples/systemd/reachability-wait-online.service"

    private func lines(_ key: String) throws -> [String] {
        try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n").compactMap { line in
            line.hasPrefix(key + "=") ? String(line.dropFirst(key.count + 1)) : nil
        }
    }

    @Test func `its command line is one of ours`() async throws {
        let line = try #require(try lines("ExecStart").first)
        let words = line.split(separator: " ").map(String.init)
        #expect(words.first == "/usr/bin/reachability")
        let uplink = try await Uplink.make()
        let result = try await Command.run(Array(words.dropFirst()), in: uplink.namespace)
        #expect(result == CommandResult(status: 0, output: "", errors: ""))
    }

    /// systemd is content with it once the command is where it says.
    @Test(.enabled(if: Tools.has("systemd-analyze"))) func `systemd takes it`() async throws {
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

    /// What it takes away is not needed: no capabilities, no privileges to come, another user.
    @Test(.enabled(if: Tools.has("setpriv") && Tools.hasOtherUsers)) func `it works without privileges`() async throws {
        let uplink = try await Uplink.make()
        let script = """
            exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
            $R wait --timeout 30s --interface u0
            """
        let result = try await Command.run(script: script, in: uplink.namespace)
        #expect(result == CommandResult(status: 0, output: "", errors: ""))
    }
}
