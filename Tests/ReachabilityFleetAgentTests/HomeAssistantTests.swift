import Foundation
import LinuxSupport
import MQTT
import ReachabilityFleet
import Testing

@testable import ReachabilityFleetAgent

/// The announcement of a machine to Home Assistant.
struct HomeAssistantTests {
    private static let topic = "homeassistant/device/hq/door/config"

    private static func world(isEnabled: Bool = true, prefix: String = HomeAssistant.usualPrefix) throws -> AgentWorld {
        try AgentWorld { $0.homeAssistant = HomeAssistant(prefix: prefix, isEnabled: isEnabled, version: "1.2.3") }
    }

    private static func summary(lost seconds: Int, _ latency: Duration? = nil) -> DeviceSummary {
        var summary = DeviceSummary(path: "reachable")
        (summary.party, summary.lostToday, summary.latency) = (DeviceSummary.Party.noParty, .seconds(seconds), latency)
        return summary
    }

    /// The summary in the last state message.
    private static func summary(in actions: [AgentMachine.Action]) throws -> [String: Any]? {
        let state = try #require(actions.messages.last { $0.topic.hasSuffix("/state") })
        return try object(state)["summary"] as? [String: Any]
    }

    private static func object(_ message: BrokerMessage) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any])
    }

    @Test func `the announcement follows the documented schema`() throws {
        var world = try Self.world()
        let message = try #require(world.connect().messages.first { $0.topic == Self.topic })
        #expect(message.isRetained && message.expiry == nil)
        let object = try Self.object(message)
        DocumentedKeys.device.check(object, at: "the announcement")
        DocumentedKeys.info.check(object["device"], at: "device")
        DocumentedKeys.origin.check(object["origin"], at: "origin")
        for availability in try #require(object["availability"] as? [Any]) {
            DocumentedKeys.availability.check(availability, at: "availability")
        }
        let components = try #require(object["components"] as? [String: [String: Any]])
        #expect(Set(components.keys) == ["internet", "party", "last_cause", "lost_today", "latency"])
        for (id, component) in components {
            let platform = try #require(component["platform"] as? String)
            let keys: DocumentedKeys = platform == "binary_sensor" ? .binarySensor : .sensor
            keys.check(component, at: id)
            #expect(platform == (id == "internet" ? "binary_sensor" : "sensor"))
            #expect(component["unique_id"] as? String == "reachability/hq/door/\(id)")
            // Only sensors of the class `enum` have options, and they have no unit.
            #expect((component["options"] == nil) == (component["device_class"] as? String != "enum"))
        }
        #expect(components["internet"]?["device_class"] as? String == "connectivity")
        #expect(components["lost_today"]?["unit_of_measurement"] as? String == "s")
        #expect(object["state_topic"] as? String == "reach/v1/hq/door/state")
        let info = try #require(object["device"] as? [String: Any])
        #expect(info["name"] as? String == "door" && info["sw_version"] as? String == "1.2.3")
        #expect(info["identifiers"] as? [String] == ["reachability/hq/door"])
        // The topic must match Home Assistant's pattern for discovery topics.
        #expect(Self.topic.wholeMatch(of: /homeassistant\/device(\/[a-zA-Z0-9_-]+){1,2}\/config/) != nil)
    }

    @Test func `each value template reads a key of the state message`() throws {
        var world = try Self.world()
        let message = try #require(world.connect().messages.first { $0.topic == Self.topic })
        let components = try #require(try Self.object(message)["components"] as? [String: [String: Any]])
        let summary = try #require(
            try Self.summary(in: world.take(.summary(Self.summary(lost: 7, .microseconds(8200)))))
        )
        for component in components.values {
            let template = try #require(component["value_template"] as? String)
            let pattern = /value_json\.get\('summary', \{\}\)\.get\('(\w+)'\)/
            let keys = template.matches(of: pattern).map { String($0.1) }
            #expect(!keys.isEmpty && keys.allSatisfy { summary[$0] != nil }, "\(template)")
        }
        let options = try #require(components["party"]?["options"] as? [String])
        #expect(options.contains(summary["party"] as? String ?? ""))
        #expect([summary["internet"] as? String] == [components["internet"]?["payload_on"] as? String])
        #expect(summary["lostTodaySeconds"] as? Int == 7 && summary["latencyMilliseconds"] as? Double == 8.2)
    }

    @Test func `a machine is removed with an empty retained message, and nothing is published without the option`()
        throws
    {
        var off = try Self.world(isEnabled: false, prefix: "own/ha")
        let message = try #require(off.connect().messages.first { $0.topic == "own/ha/device/hq/door/config" })
        #expect(message.isRetained && message.payload.isEmpty)
        #expect(try !off.actions.contains(.readSummary) && Self.summary(in: off.actions) == nil)
        var without = try AgentWorld()
        #expect(without.connect().messages.allSatisfy { $0.topic.hasPrefix("reach/v1/") })
        #expect(try Self.summary(in: without.actions) == nil)
    }

    @Test func `the summary is updated every minute and after events, and published if it has changed`() throws {
        var world = try Self.world()
        #expect(world.connect().contains(.readSummary))
        try world.page([])
        // Until the service has answered, the kernel's path is used.
        #expect(try Self.summary(in: world.take(.internet("notReachable")))?["internet"] as? String == "down")
        #expect(try Self.summary(in: world.take(.summary(Self.summary(lost: 7))))?["internet"] as? String == "up")
        #expect(world.take(.summary(Self.summary(lost: 7))).isEmpty)
        let before = world.now
        world.pass()
        #expect(world.now - before <= .seconds(1))
        world.take(.summary(Self.summary(lost: 7)))
        let start = world.now
        #expect(world.pass() == [.readSummary] && world.now - start == .seconds(60))
        // A second read does not start before the first has ended.
        #expect(world.pass().isEmpty)
        #expect(try Self.summary(in: world.take(.summary(nil)))?["lostTodaySeconds"] is NSNull)
        let event = world.now
        try world.page([1])
        #expect(world.pass() == [.readSummary] && world.now - event == .seconds(1))
    }

    @Test func `a broker that refuses the announcement is reported, and the connection stays`() throws {
        var world = try Self.world()
        world.connect()
        world.acknowledge()
        let actions = world.acknowledge(.notAuthorized)
        #expect(actions.lines.first?.contains("refuses messages to \(Self.topic): not authorized") == true)
        #expect(!actions.contains(.abandon))
    }

    @Test func `names with characters that Home Assistant ignores in topics are not supported`() throws {
        #expect(HomeAssistant.supports(try #require(DeviceID(site: "hq", device: "door-7_b"))))
        #expect(!HomeAssistant.supports(try #require(DeviceID(site: "hq", device: "door.example"))))
        #expect(!HomeAssistant.supports(try #require(DeviceID(site: "a.b", device: "door"))))
    }
}

/// The keys of an object in the documentation of Home Assistant's MQTT integration ("Device discovery payload", "MQTT
/// binary sensor" and "MQTT sensor"), without abbreviations.
private struct DocumentedKeys {
    let required: Set<String>
    let optional: Set<String>

    static let device = DocumentedKeys(
        required: ["device", "origin", "components"],
        optional: [
            "availability", "availability_mode", "availability_template", "availability_topic", "command_topic",
            "encoding", "payload_available", "payload_not_available", "qos", "state_topic",
        ]
    )
    static let info = DocumentedKeys(
        required: ["identifiers"],
        optional: [
            "configuration_url", "connections", "hw_version", "manufacturer", "model", "model_id", "name",
            "serial_number", "suggested_area", "sw_version", "via_device",
        ]
    )
    static let origin = DocumentedKeys(required: ["name"], optional: ["sw_version", "support_url"])
    static let availability = DocumentedKeys(
        required: ["topic"],
        optional: ["payload_available", "payload_not_available", "value_template"]
    )
    /// The keys of all entities. The topic of the state is that of the device.
    private static let entity: Set<String> = [
        "availability", "availability_mode", "availability_template", "availability_topic", "default_entity_id",
        "device_class", "enabled_by_default", "encoding", "entity_category", "entity_picture", "expire_after",
        "force_update", "icon", "json_attributes_template", "json_attributes_topic", "name", "payload_available",
        "payload_not_available", "qos", "state_topic", "value_template",
    ]
    static let binarySensor = DocumentedKeys(
        required: ["platform", "unique_id"],
        optional: entity.union(["off_delay", "payload_off", "payload_on"])
    )
    static let sensor = DocumentedKeys(
        required: ["platform", "unique_id"],
        optional: entity.union([
            "last_reset_value_template", "options", "state_class", "suggested_display_precision", "unit_of_measurement",
        ])
    )

    func check(_ value: Any?, at place: String) {
        let keys = Set((value as? [String: Any] ?? [:]).keys)
        let missing = required.subtracting(keys)
        let unknown = keys.subtracting(required).subtracting(optional)
        #expect(missing.isEmpty && unknown.isEmpty, "\(place): \(missing) are missing, \(unknown) not documented")
    }
}
