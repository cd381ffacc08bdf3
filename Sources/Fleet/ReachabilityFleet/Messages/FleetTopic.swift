import LinuxSupport

/// Where a message goes: `reach/v1/SITE/DEVICE/KIND`, or the hub's own `reach/v1/$hub/state`.
///
/// Birth, state and will of a machine share one topic, for MQTT keeps the order of messages within a topic only.
///
/// Source: MQTT 5.0, 4.6, Message ordering.
package enum FleetTopic: Hashable, Sendable, CustomStringConvertible {
    /// What goes on below the name of a machine.
    package enum Kind: String, Sendable, CaseIterable {
        /// Retained: how the machine is, and its will.
        case state
        /// Outages, in the order in which they became known.
        case event
        /// What was asked for.
        case detail
        /// What the machine is asked for.
        case command = "cmd"
    }

    case device(FleetPlace, Kind)
    case hub

    private static let root = "reach/v1"

    /// Nil for any other topic.
    package init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let levels = text.split(at: "/", omittingEmptySubsequences: false).map(String.init)
        guard levels.count >= 4, levels[0] == "reach", levels[1] == "v1" else { return nil }
        if levels.count == 4, levels[2] == "$hub", levels[3] == "state" {
            self = .hub
            return
        }
        guard levels.count == 5, let place = FleetPlace(site: levels[2], device: levels[3]),
            let kind = Kind(rawValue: levels[4])
        else { return nil }
        self = .device(place, kind)
    }

    package var description: String {
        switch self {
        case .device(let place, let kind): "\(Self.root)/\(place.site)/\(place.device)/\(kind.rawValue)"
        case .hub: "\(Self.root)/$hub/state"
        }
    }

    /// What a hub subscribes to for messages of that kind from all machines.
    package static func everybody(_ kind: Kind) -> String { "\(root)/+/+/\(kind.rawValue)" }
}
