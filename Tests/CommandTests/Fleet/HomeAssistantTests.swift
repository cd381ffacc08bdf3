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
        // A second subscription would drop the retained messages of the first.
        try await home.subscribe("#")
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
        #expect(before["lastCause"] is NSNull && before["latencyMilliseconds"] is NSNull)

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
}
#endif
