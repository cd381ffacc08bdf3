#if Fleet
import BrokerLab
import Foundation
import LinuxSupport
import MQTT
import NetworkLab
import ReachabilityFleet
import Testing

/// The announcement of a machine to Home Assistant, with a real service and a real broker.
@Suite(.enabled(if: LabBroker.exists, "mosquitto is not installed; Scripts/fetch-servers gets it"))
struct HomeAssistantTests {
    /// Connects like Home Assistant.
    private static func home(of lab: FleetLab, as client: String) async throws -> BrokerPeer {
        let options = BrokerOptions(address: lab.broker.address, client: client)
        let home = try await BrokerPeer.begin(MosquittoBroker(), options, in: lab.namespace)
        _ = try await home.connected()
        for filter in ["homeassistant/+/+/+/config", "reach/v1/+/+/state"] { try await home.subscribe(filter) }
        return home
    }

    /// Returns the next message that meets a condition, as a JSON object.
    private static func object(
        at home: BrokerPeer,
        where condition: (BrokerMessage, [String: Any]) -> Bool
    ) async throws -> [String: Any] {
        while true {
            let message = try await home.message()
            let object = try? JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
            if let object, condition(message, object) { return object }
        }
    }

    private static func summary(
        at home: BrokerPeer,
        where condition: ([String: Any]) -> Bool
    ) async throws -> [String: Any] {
        let state = try await object(at: home) { _, object in
            (object["summary"] as? [String: Any]).map(condition) ?? false
        }
        return state["summary"] as? [String: Any] ?? [:]
    }

    @Test func `Home Assistant gets the machine, its outages, and its removal`() async throws {
        let lab = try await FleetLab.start()
        let home = try await Self.home(of: lab, as: "home")
        let agent = try await lab.agent(["--home-assistant"])
        let announced = try await Self.object(at: home) { message, _ in
            message.topic == "homeassistant/device/hq/door/config"
        }
        #expect((announced["components"] as? [String: Any])?.count == 5)
        let topic = try #require(announced["state_topic"] as? String)
        #expect(topic == "reach/v1/hq/door/state")
        let before = try await Self.summary(at: home) { $0["lostTodaySeconds"] is Int }
        #expect(before["internet"] as? String == "up" && before["party"] as? String == "none")
        #expect(before["lastCause"] is NSNull && before["latencyMicroseconds"] is NSNull)

        try await lab.serve.uplink.setConnected(false)
        let during = try await Self.summary(at: home) { $0["internet"] as? String == "down" && $0["party"] is String }
        #expect(during["party"] as? String == "this machine")
        #expect(during["lastCause"] as? String == "No route led out of this machine")
        try await lab.serve.uplink.setConnected(true)
        let after = try await Self.summary(at: home) { $0["internet"] as? String == "up" && $0["lastCause"] is String }
        #expect(after["party"] as? String == "none" && after["lostTodaySeconds"] is Int)

        // A subscriber that connects later gets the retained messages.
        let late = try await Self.home(of: lab, as: "late")
        _ = try await Self.object(at: late) { message, _ in message.isRetained && message.topic.hasSuffix("/config") }
        #expect(try await agent.result(after: SIGTERM).status == 0)
        _ = try await Self.object(at: late) { _, object in object["state"] as? String == "leaving" }

        let removing = try await lab.agent(["--no-home-assistant"])
        while true {
            let message = try await late.message()
            if message.topic.hasSuffix("/config") {
                #expect(message.payload.isEmpty)
                break
            }
        }
        #expect(try await removing.result(after: SIGTERM).status == 0)
    }

    @Test func `invalid names and prefixes are usage errors, and errors of the configuration`() async throws {
        let common = ["fleet", "agent", "--broker", "mqtt://127.0.0.1:1", "--site", "hq", "--state", "none"]
        let named = try await Command.run(common + ["--device", "door.example", "--home-assistant"])
        #expect(named.status == 64 && named.errors.contains("requires a site and a device without \".\""), "\(named)")
        let words = ["--device", "door", "--home-assistant", "--home-assistant-prefix", "a/#"]
        let prefix = try await Command.run(common + words)
        #expect(
            prefix.status == 64 && prefix.errors.contains("--home-assistant-prefix takes 1 to 8 names"),
            "\(prefix)"
        )
        let directory = ScratchDirectory()
        let lines = [
            "schema = 1", "[fleet]", "broker = \"mqtt://a\"", "site = \"hq\"", "device = \"door.example\"",
            "home-assistant = true", "home-assistant-prefix = \"\"",
        ]
        try directory.write("serve.toml", lines.joined(separator: "\n") + "\n", mode: 0o644)
        let file = directory.file("serve.toml")
        let refused = try await Command.run(["serve", "--check", file])
        #expect(refused.status == 78)
        #expect(refused.errors.contains("\(file):6: fleet.home-assistant: requires a site and a device without \".\""))
        #expect(refused.errors.contains("\(file):7: fleet.home-assistant-prefix: must be 1 to 8 names"))
    }
}
#endif
