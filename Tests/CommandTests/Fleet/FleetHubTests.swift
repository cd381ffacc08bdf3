#if Fleet
import BrokerLab
import Foundation
import Glibc
import LinuxSupport
import NetworkLab
import Testing

/// The hub, with real machines and a real broker.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct FleetHubTests {
    @Test(arguments: BrokerKind.tested)
    func `an outage of a machine is an incident, with its cause, also when its session never fell`(
        _ kind: BrokerKind
    ) async throws {
        let lab = try await FleetLab.start(kind)
        let hub = try await HubLab.start(lab)
        let agent = try await lab.agent()
        try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "online" }
        try await lab.outage()
        let incidents = try await hub.until("/v1/incidents") { $0.first?["end"] is String }
        #expect(incidents.count == 1)
        #expect(incidents[0]["site"] as? String == "hq" && incidents[0]["devices"] as? [String] == ["door"])
        #expect(incidents[0]["attribution"] as? String == "us" && incidents[0]["cause"] as? String == "route")
        let status = try await hub.object("/v1/status")
        #expect((status["broker"] as? [String: any Sendable])?["isConnected"] as? Bool == true)
        #expect(try await hub.text("/readyz").contains("\"ready\":true"))
        #expect(try await hub.text("/metrics").contains("reachability_fleet_incidents_total{attribution=\"us\""))
        _ = try await agent.result(after: SIGTERM)
        let left = try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "leaving" }
        #expect((left.first?["silence"] as? [String: any Sendable])?["verdict"] as? String == "planned")
        #expect(try await hub.end() == 0)
    }

    @Test func `a hub that is killed repeatedly loses no outage and stores none twice`() async throws {
        let lab = try await FleetLab.start()
        let kills = ProcessInfo.processInfo.environment["HUB_COMMAND_KILLS"].flatMap { Int($0) } ?? 3
        let agent = try await lab.agent()
        for number in 0..<kills {
            let hub = try await HubLab.start(lab)
            if number % 2 == 0 {
                try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "online" }
            }
            // Some outages begin while the hub runs, and some end while it does not.
            try await lab.outage()
            hub.command.signal(SIGKILL)
            #expect(try await hub.command.result().status == -SIGKILL)
        }
        let hub = try await HubLab.start(lab)
        try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "online" }
        try await hub.untilAllOutages()
        _ = try await agent.result(after: SIGTERM)
        #expect(try await hub.end() == 0)
    }

    @Test func `the hub detects events that the broker dropped, and requests them again`() async throws {
        let lab = try await FleetLab.start(.mosquitto, ["max_inflight_messages 1", "max_queued_messages 1"])
        let hub = try await HubLab.start(lab)
        // Each state message contains the number of the event before it, as each event does. So the loss of the last event is detected too.
        let agent = try await lab.agent(["--refresh", "10s"])
        try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "online" }
        hub.command.signal(SIGSTOP)
        for _ in 0..<3 { try await lab.outage() }
        hub.command.signal(SIGCONT)
        try await lab.outage()
        try await hub.untilAllOutages()
        _ = try await agent.result(after: SIGTERM)
        #expect(try await hub.end() == 0)
    }

    @Test func `the command queries the hub and deletes a machine`() async throws {
        let lab = try await FleetLab.start()
        let hub = try await HubLab.start(lab)
        let agent = try await lab.agent()
        try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "online" }
        try await lab.outage()
        let incidents = try await hub.until("/v1/incidents") { $0.first?["end"] is String }
        let socket = ["--socket", lab.serve.directory.file("hub.sock")]
        let devices = try await Command.run(["fleet", "devices", "--site", "hq"] + socket)
        #expect(devices.status == 0 && devices.output.hasPrefix("hq/door: online, last message "), "\(devices)")
        let unexplained = try await Command.run(["fleet", "devices", "--unexplained", "--json"] + socket)
        #expect(unexplained.status == 0 && unexplained.output.isEmpty)
        let list = try await Command.run(["fleet", "incidents", "--json"] + socket)
        let id = try #require(incidents[0]["id"] as? String)
        #expect(list.status == 0 && list.output.contains("\"id\":\"\(id)\""))
        let one = try await Command.run(["fleet", "incidents", id] + socket)
        #expect(one.status == 0 && one.output.contains("  door: internet: us.route from "), "\(one)")
        let none = try await Command.run(["fleet", "incidents", "nowhere"] + socket)
        #expect(none.status == 64 && none.errors.contains("there is no incident \"nowhere\""), "\(none)")
        // A killed agent would have a will, which the broker may publish after the deletion.
        _ = try await agent.result(after: SIGTERM)
        try await hub.until("/v1/devices") { $0.first?["standing"] as? String == "leaving" }
        let stranger = try await Command.run(["fleet", "forget", "window"] + socket)
        #expect(stranger.status == 64 && stranger.errors.contains("there is no device \"window\""), "\(stranger)")
        #expect(try await Command.run(["fleet", "forget", "door"] + socket).status == 0)
        let again = try await Command.run(["fleet", "forget", "hq/door"] + socket)
        #expect(again.status == 64 && again.errors.contains("there is no device \"hq/door\""), "\(again)")
        #expect(try await hub.items("/v1/devices").isEmpty)
        #expect(try await hub.end() == 0)
    }

    @Test func `only one hub uses a history, and errors in the command line and the file are reported`() async throws {
        let lab = try await FleetLab.start()
        let hub = try await HubLab.start(lab)
        let second = try await HubLab.command(lab, ["--socket", lab.serve.directory.file("other.sock")]).result()
        #expect(second.status == 75, "\(second)")
        #expect(second.errors.contains("hub.sqlite"))
        let third = try await HubLab.command(lab, ["--history", "none"]).result()
        #expect(third.status == 69, "\(third)")
        #expect(third.errors.contains("another"))
        let file = lab.serve.directory.file("hub.toml")
        try Data("schema = 1\n[history]\nmark = \"1m\"\n[[target]]\nname = \"x\"\n".utf8).write(
            to: URL(fileURLWithPath: file)
        )
        let fourth = try await HubLab.command(lab, ["--config", file]).result()
        #expect(fourth.status == 78 && fourth.errors.contains("\(file):4: target: unknown key"))
        #expect(fourth.errors.contains("history.mark: not supported by a hub"))
        let checked = try await Command.run(["fleet", "hub", "--check", file])
        #expect(checked.status == 78 && checked.errors == fourth.errors)
        try Data("schema = 1\n[history]\nkeep = \"30d\"\n".utf8).write(to: URL(fileURLWithPath: file))
        let right = try await Command.run(["fleet", "hub", "--check", file])
        #expect(right == CommandResult(status: 0, output: "the configuration is valid\n", errors: ""))
        let none = try await Command.run(["fleet", "hub", "--reload", "--socket", lab.serve.directory.file("no.sock")])
        #expect(none.status == 69 && none.errors.contains("no service listens there"), "\(none)")
        let missing = try await Command.run(["fleet", "hub"])
        #expect(missing.status == 64 && missing.errors.contains("--broker is required"))
        let fifth = try await Command.run(["fleet", "hub", "--broker", "mqtt://a", "--name", "a/b"])
        #expect(fifth.status == 64 && fifth.errors.contains("--name takes 1 to 64 letters"))
        #expect(try await hub.end() == 0)
    }
}

/// A running hub.
struct HubLab {
    let lab: FleetLab
    let command: RunningCommand
    /// The places at which the hub reports that it listens.
    let places: String

    static func start(_ lab: FleetLab, _ more: [String] = []) async throws -> HubLab {
        let command = try await Self.command(lab, more)
        let line = try await command.line()
        #expect(line.hasPrefix("listening at ") && line.hasSuffix("hub.sock"))
        return HubLab(lab: lab, command: command, places: line)
    }

    static func command(_ lab: FleetLab, _ more: [String] = []) async throws -> RunningCommand {
        var words = [
            "fleet", "hub", "--broker", lab.broker.address.description, "--name", "watcher", "--listen", "none",
        ]
        if !more.contains("--socket") { words += ["--socket", lab.serve.directory.file("hub.sock")] }
        if !more.contains("--history") { words += ["--history", lab.serve.directory.file("hub.sqlite")] }
        return try await RunningCommand.start(words + more, in: lab.namespace)
    }

    func text(_ target: String) async throws -> String {
        try await ServeLab.get(target, at: lab.serve.directory.file("hub.sock"))
    }

    func object(_ target: String) async throws -> [String: any Sendable] {
        let object = try JSONSerialization.jsonObject(with: Data(try await text(target).utf8))
        return try #require(object as? [String: any Sendable])
    }

    func items(_ target: String) async throws -> [[String: any Sendable]] {
        try #require(try await object(target)["items"] as? [[String: any Sendable]])
    }

    /// Waits until the hub has each outage of the machine once.
    func untilAllOutages() async throws {
        let all = try await lab.outages().sorted()
        // A machine is queried at most once per minute.
        let isWhole = try await eventually(every: .milliseconds(100)) {
            try await outages() == all
        }
        let found = try await outages()
        #expect(isWhole, "\(found) instead of \(all)")
    }

    /// Repeats a query until the condition holds.
    @discardableResult
    func until(
        _ target: String,
        _ condition: ([[String: any Sendable]]) -> Bool
    ) async throws -> [[String: any Sendable]] {
        var items: [[String: any Sendable]] = []
        let isSo = try await eventually(every: .milliseconds(20)) {
            items = try await self.items(target)
            return condition(items)
        }
        if !isSo { throw LabError("\(target) stays \(items)") }
        return items
    }

    /// Returns the ids of the ended outages of all incidents. An outage that is stored twice appears twice.
    func outages() async throws -> [String] {
        var ids: [String] = []
        for incident in try await items("/v1/incidents") {
            let whole = try await object("/v1/incidents/\(incident["id"] as? String ?? "")")
            for part in whole["parts"] as? [[String: any Sendable]] ?? [] {
                for outage in part["outages"] as? [[String: any Sendable]] ?? [] where outage["end"] is String {
                    ids.append(outage["id"] as? String ?? "")
                }
            }
        }
        return ids.sorted()
    }

    func end() async throws -> Int32 {
        return try await command.result(after: SIGTERM).status
    }
}

/// The default listening places of a hub, also as systemd starts it.
@Suite(.enabled(if: LabThread.canBecomeNobody, "another user cannot be become in this namespace"))
struct FleetHubPlaceTests {
    /// Starts a service as another user in its own directory. `environment` contains arguments of env(1).
    private static func start(
        _ command: String,
        _ environment: String,
        in directory: ScratchDirectory
    ) async throws
        -> RunningCommand
    {
        try #require(chown(directory.path, 65_534, 65_534) == 0)
        let programs = Command.path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        // Other users may not have access to the build directory.
        let script = """
            set -e
            mount -t tmpfs -o mode=755 tmpfs /run
            mkdir /run/programs && mount --bind \(programs) /run/programs
            cd \(directory.path)
            exec setpriv --reuid=65534 --regid=65534 --clear-groups env \(environment) \\
                /run/programs/reachability \(command) --history none
            """
        return try await RunningCommand.start(in: nil) {
            try LabProcess("unshare", ["--mount", "sh", "-c", script])
        }
    }

    /// Starts a hub, and returns the files of a directory at which it listens, with their modes.
    private static func place(_ environment: String, _ arguments: String) async throws -> String {
        let directory = ScratchDirectory()
        let command = "fleet hub --broker mqtt://127.0.0.1:1 --listen none \(arguments)"
        let hub = try await start(command, "\(environment) XDG_RUNTIME_DIR=$PWD", in: directory)
        let line = try await hub.line()
        let file = try #require(line.split(separator: " ").last.map(String.init))
        var status = stat()
        try #require(stat(file, &status) == 0, "\(line)")
        #expect(try await hub.result(after: SIGTERM).status == 0)
        #expect(file.hasPrefix(directory.path))
        return "\(file.dropFirst(directory.path.count)) \(String(status.st_mode & 0o777, radix: 8))"
    }

    @Test(arguments: ["serve", "fleet hub --broker mqtt://127.0.0.1:1"])
    func `a user without a runtime directory gets a message that there is no Unix socket`(command: String) async throws
    {
        let directory = ScratchDirectory()
        let service = try await Self.start("\(command) --listen 127.0.0.1:0", "-u XDG_RUNTIME_DIR", in: directory)
        #expect(try await service.line().hasPrefix("listening at http://127.0.0.1:"))
        let result = try await service.result(after: SIGTERM)
        #expect(
            result.status == 0 && result.errors.contains("cannot create a Unix socket: XDG_RUNTIME_DIR"),
            "\(result)"
        )
    }

    @Test func `all users can query a socket in the directory of systemd, and only its user in another directory`()
        async throws
    {
        #expect(try await Self.place("RUNTIME_DIRECTORY=$PWD:/run/other", "") == "/hub.sock 666")
        #expect(try await Self.place("RUNTIME_DIRECTORY=$PWD", "--socket $PWD/own.sock") == "/own.sock 600")
        #expect(try await Self.place("", "") == "/reachability/hub.sock 600")
    }
}
#endif
