#if Fleet
import BrokerLab
import Foundation
import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import Testing

/// The agent, with a real service and each installed broker.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct FleetAgentTests {
    @Test(arguments: BrokerKind.tested)
    func `an agent reports that it is online, the start and end of an outage, and its reason for leaving`(
        _ kind: BrokerKind
    ) async throws {
        let lab = try await FleetLab.start(kind)
        let agent = try await lab.agent()
        let birth = try await lab.hub.state(.online)
        #expect(birth.report?.refresh == .seconds(900))
        #expect(try await lab.hub.outagesUntilCaughtUp().isEmpty)
        try await lab.outage()
        let begun = try await lab.hub.event { if case .outage = $0.kind { true } else { false } }
        guard case .outage(let outage) = begun.kind else { return }
        #expect(outage.target == "internet" && outage.attribution == .us && outage.cause?.rawValue == "route")
        #expect(begun.session == birth.session && begun.position != nil)
        let ended = try await lab.hub.event {
            if case .outage(let outage) = $0.kind { outage.end != nil } else { false }
        }
        guard case .outage(let same) = ended.kind else { return }
        #expect(same.id == outage.id)
        #expect(try await lab.outages() == [same.id])
        agent.signal(SIGTERM)
        #expect(try await lab.hub.state(.leaving).report?.reason == "stopped")
        let result = try await agent.result()
        #expect(result.status == 0 && result.output.isEmpty)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.first?.contains("others on the network can read") == true)
        #expect(lines.contains("reachability: connected to \(lab.broker.address), as hq/door"))
        let saysVersion = lines.filter { $0.contains("supports MQTT 3.1.1 but not 5") }
        #expect(saysVersion.count == (kind.version == .five ? 0 : 1))
        // A retained message contains the reason too.
        var options = BrokerOptions(address: lab.broker.address, client: "late")
        options.version = kind.version
        let late = try await BrokerPeer.begin(MosquittoBroker(), options, in: lab.namespace)
        _ = try await late.connected()
        try await late.subscribe(kind.tellsRetainedByWildcard ? "reach/v1/+/+/state" : "reach/v1/hq/door/state")
        let kept = try await late.message()
        #expect(kept.isRetained)
        #expect(try DeviceState(kept.payload).standing == .leaving)
    }

    @Test(arguments: BrokerKind.tested)
    func `an agent that is killed repeatedly loses no event`(_ kind: BrokerKind) async throws {
        let lab = try await FleetLab.start(kind)
        let collector = try await FleetLab.hub(of: lab.broker, in: lab.namespace, as: "collector")
        let kills = ProcessInfo.processInfo.environment["FLEET_KILLS"].flatMap { Int($0) } ?? 10
        for number in 0..<kills {
            let agent = try await lab.agent()
            // Each kill happens at another moment: before the connection, during the transmission, and after it.
            if number % 3 == 1 { _ = try await lab.hub.state(.online) }
            if number % 3 == 2 { _ = try await lab.hub.outagesUntilCaughtUp() }
            try await lab.outage()
            #expect(try await agent.result(after: SIGKILL).status == -SIGKILL)
        }
        try await lab.outage()
        let agent = try await lab.agent()
        let all = try await lab.outages()
        #expect(all.count == kills + 1)
        // An event that never arrives ends the test.
        var heard: Set<String> = []
        while !heard.isSuperset(of: all) {
            let event = try await collector.event { _ in true }
            if case .outage(let outage) = event.kind, outage.end != nil { heard.insert(outage.id) }
        }
        #expect(try await agent.result(after: SIGTERM).status == 0)
    }

    @Test func `the broker reports a killed agent, and not one that returns in time`() async throws {
        let lab = try await FleetLab.start()
        // The delay is long enough for a second agent to start, also on a busy machine.
        let first = try await lab.agent(["--will-delay", "60s"])
        let birth = try await lab.hub.state(.online)
        _ = try await first.result(after: SIGKILL)
        let second = try await lab.agent(["--will-delay", "1s"])
        // The first agent sends its state again when it knows whether there is a path to the internet.
        let again = try await lab.hub.word("state", { try DeviceState($0) }) { state in
            state.session != birth.session || state.standing != .online
        }
        #expect(again.standing == .online && again.session != birth.session)
        _ = try await second.result(after: SIGKILL)
        let will = try await lab.hub.state(.offline)
        #expect(will == DeviceState.will(session: again.session))
    }

    @Test func `an agent reaches a broker whose name also has a silent IPv6 address`() async throws {
        let lab = try await FleetLab.start()
        // Packets by way of this router are lost.
        try await lab.serve.uplink.ip("-6 neigh replace 2001:db8::1 lladdr 02:00:00:00:00:01 dev u0")
        let files = [
            "mount -t tmpfs tmpfs /etc", "echo hosts: files > /etc/nsswitch.conf", "echo multi on > /etc/host.conf",
            "echo 2001:db8:1::1 broker.example > /etc/hosts",
            "echo \(lab.broker.address.host) broker.example >> /etc/hosts",
        ]
        let place = "--socket \(lab.serve.socket) --state \(lab.state)"
        let command = "fleet agent --broker mqtt://broker.example --site hq --device door --jitter 10ms \(place)"
        let agent = try await RunningCommand.start(
            script: "exec unshare --mount sh -c \"\(files.joined(separator: " && ")) && exec $R \(command)\"",
            in: lab.namespace
        )
        _ = try await lab.hub.state(.online)
        let result = try await agent.result(after: SIGTERM)
        #expect(result.status == 0 && result.errors.contains("connected to"), "\(result)")
    }

    @Test func `all settings may be in the service's configuration, which the service accepts too`() async throws {
        let lab = try await FleetLab.start()
        let file = lab.serve.directory.file("serve.toml")
        let text = """
            schema = 1
            [fleet]
            broker = "\(lab.broker.address)"
            site = "hq"
            device = "door"
            jitter = "10ms"
            refresh = "7m"
            allow = ["report"]
            """
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try await Command.run(["serve", "--check", file]).status == 0)
        let agent = try await RunningCommand.start(
            ["fleet", "agent", "--config", file, "--socket", lab.serve.socket, "--state", "none"],
            in: lab.namespace
        )
        #expect(try await lab.hub.state(.online).report?.refresh == .seconds(420))
        #expect(try await agent.result(after: SIGTERM).status == 0)
        try Data("schema = 1\n[fleet]\nbroker = \"http://a\"\nsite = \"a/b\"\nallow = [\"exec\"]\n".utf8).write(
            to: URL(fileURLWithPath: file)
        )
        let refused = try await Command.run(["serve", "--check", file])
        #expect(refused.status == 78)
        for text in [
            "fleet.broker: must be mqtts://HOST", "fleet.site: must be 1 to 64", "fleet.device: missing",
            "fleet.allow[1]: must be check or report",
        ] { #expect(refused.errors.contains(text)) }
        #expect(try await Command.run(["fleet", "agent", "--config", file]).status == 78)
        try Data("schema = 1\n".utf8).write(to: URL(fileURLWithPath: file))
        let without = try await Command.run(["fleet", "agent", "--config", file])
        #expect(without.status == 78 && without.errors.contains("it has no table [fleet]"))
        let none = try await Command.run(["fleet", "agent", "--broker", "mqtt://a"])
        #expect(none.status == 64 && none.errors.contains("give --broker, --site and --device"))
    }

    @Test func `only one agent uses a state`() async throws {
        let lab = try await FleetLab.start()
        let first = try await lab.agent()
        _ = try await lab.hub.state(.online)
        let second = try await lab.agent().result()
        #expect(second.status == 75 && second.errors.contains("give each agent its own --state"))
        #expect(try await first.result(after: SIGINT).status == 0)
    }
}
#endif
