import LinuxSupport
import MQTT
package import ReachabilityFleet

/// The announcement of a machine to Home Assistant over MQTT. A value.
///
/// Source: Home Assistant, MQTT integration, "Device discovery payload".
package struct HomeAssistant: Hashable, Sendable {
    /// The default of the option `discovery_prefix` of Home Assistant.
    package static let usualPrefix = "homeassistant"
    /// The interval at which the summary is updated.
    static let interval = Duration.seconds(60)
    /// The delay after an event of the service.
    static let eventDelay = Duration.seconds(1)

    private let prefix: String
    /// False to remove the machine from Home Assistant.
    let isEnabled: Bool
    /// The version of the program.
    private let version: String

    package init(prefix: String, isEnabled: Bool, version: String) {
        (self.prefix, self.isEnabled, self.version) = (prefix, isEnabled, version)
    }

    /// Returns whether the topic can contain the names of a machine. Home Assistant ignores topics with other characters.
    package static func supports(_ place: DeviceID) -> Bool { !place.description.contains(".") }

    /// Returns the retained message that announces a machine, or removes it with an empty payload.
    func message(for place: DeviceID) -> BrokerMessage {
        BrokerMessage(
            topic: "\(prefix)/device/\(place)/config",
            payload: isEnabled ? object(for: place).bytes : [],
            isRetained: true
        )
    }

    private func object(for place: DeviceID) -> JSONObject {
        let topic = FleetTopic.device(place, .state).description
        var device = JSONObject()
        device.add("identifiers", [Self.identifier(of: place)])
        device.add("name", place.device)
        device.add("manufacturer", "network-reachability")
        device.add("model", "reachability fleet agent")
        device.add("sw_version", version)
        var origin = JSONObject()
        origin.add("name", "network-reachability")
        origin.add("sw_version", version)
        var availability = JSONObject()
        availability.add("topic", topic)
        // Announced absences and the will are the other states.
        availability.add("value_template", "{{ 'online' if value_json.state == 'online' else 'offline' }}")
        var components = JSONObject()
        for entity in Self.entities { components.add(entity.id, Self.object(of: entity, place)) }
        var object = JSONObject()
        object.add("device", device)
        object.add("origin", origin)
        object.add("availability", [availability])
        object.add("state_topic", topic)
        object.add("qos", 1)
        object.add("components", components)
        return object
    }

    private static func identifier(of place: DeviceID) -> String { "reachability/\(place)" }

    private typealias Entity = (id: String, name: String, key: String, settings: [(String, String)])

    /// The entities of a machine, with their keys in ``DeviceSummary``.
    private static let entities: [Entity] = [
        (
            "internet", "Internet", "internet",
            [("device_class", "connectivity"), ("payload_on", "up"), ("payload_off", "down")]
        ),
        ("party", "Responsible party", "party", [("device_class", "enum")]),
        ("last_cause", "Last cause", "lastCause", []),
        ("lost_today", "Time lost today", "lostTodaySeconds", measurement("s")),
        ("latency", "Latency", "latencyMilliseconds", measurement("ms")),
    ]

    private static func measurement(_ unit: String) -> [(String, String)] {
        [("device_class", "duration"), ("unit_of_measurement", unit), ("state_class", "measurement")]
    }

    private static func object(of entity: Entity, _ place: DeviceID) -> JSONObject {
        var object = JSONObject()
        object.add("platform", entity.id == "internet" ? "binary_sensor" : "sensor")
        object.add("name", entity.name)
        object.add("unique_id", "\(identifier(of: place))/\(entity.id)")
        // Without a value the template returns None, which Home Assistant shows as unknown.
        object.add("value_template", "{{ value_json.get('summary', {}).get('\(entity.key)') }}")
        for (key, value) in entity.settings { object.add(key, value) }
        if entity.id == "party" { object.add("options", DeviceSummary.Party.allCases.map(\.rawValue)) }
        return object
    }
}

extension AgentMachine {
    /// Announces the machine to Home Assistant, or removes it.
    mutating func announce() {
        guard let homeAssistant = options.homeAssistant else { return }
        act(.publish(homeAssistant.message(for: options.place), .announcement))
        if homeAssistant.isEnabled { updateSummary() }
    }

    /// Reads the summary from the service unless that is in progress.
    mutating func updateSummary() {
        summaryAt = world.now() + HomeAssistant.interval
        guard !isReadingSummary else { return }
        isReadingSummary = true
        act(.readSummary)
    }

    mutating func apply(_ summary: DeviceSummary?) {
        isReadingSummary = false
        guard summary != self.summary else { return }
        self.summary = summary
        if link.state == .connected { report() }
    }

    /// Updates the summary soon, because an event may have changed it.
    mutating func scheduleSummary() {
        if let summaryAt { self.summaryAt = min(summaryAt, world.now() + HomeAssistant.eventDelay) }
    }
}
