import LinuxSupport

/// The state of a machine, published by the machine itself. When its connection is lost, the broker publishes the state
/// `offline` (the will).
package struct DeviceState: Hashable, Sendable {
    package enum Standing: String, Sendable, CaseIterable {
        case online
        /// The connection is lost. Published by the broker.
        case offline
        /// The machine is about to sleep.
        case sleeping
        /// The agent is about to end normally.
        case leaving
    }

    /// The facts of a state message. A will has none.
    package struct Report: Hashable, Sendable {
        /// The boot id, from `/proc/sys/kernel/random/boot_id`.
        package var boot: String
        /// The wall clock, since 1970. It may be wrong by years.
        package var wall: Duration
        /// The clock CLOCK_BOOTTIME, which includes the time of sleep.
        package var bootTime: Duration
        /// The maximum interval between two state messages.
        package var refresh: Duration
        /// The last position in the event log that the broker has acknowledged; nil for none.
        package var acknowledged: EventPosition?
        /// The path to the internet: `reachable`, `notReachable` or `unknown`.
        package var path: String?
        /// The reason of a normal end.
        package var reason: String?
        /// The summary for home automation; nil without it. The hub ignores it.
        package var summary: DeviceSummary?

        package init(boot: String, wall: Duration, bootTime: Duration, refresh: Duration) {
            (self.boot, self.wall, self.bootTime, self.refresh) = (boot, wall, bootTime, refresh)
        }
    }

    /// The identifier of the connection, new for each connection. A will counts only if its session is the newest known
    /// one.
    package let session: String
    package let standing: Standing
    /// The facts of the message; nil for a will.
    package let report: Report?

    package init(session: String, standing: Standing, report: Report?) {
        (self.session, self.standing, self.report) = (session, standing, report)
    }

    /// Returns the will of a session, which the broker publishes when the connection is lost.
    package static func will(session: String) -> DeviceState {
        DeviceState(session: session, standing: .offline, report: nil)
    }
}

extension DeviceState {
    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let payload = try Payload(bytes)
        session = try payload.text("session", longest: 64)
        standing = try payload.word("state")
        guard standing != .offline else {
            report = nil
            return
        }
        report = try Report(payload)
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("session", session)
        object.add("state", standing.rawValue)
        if let report { object.add(report.object) }
        return object.bytes
    }
}

extension DeviceState.Report {
    /// The valid values of the maximum interval between two state messages, in seconds.
    private static let refreshes: ClosedRange<UInt64> = 1...86400

    init(_ payload: Payload) throws(PayloadError) {
        let seconds = try payload.count("refresh", upTo: Self.refreshes.upperBound)
        self.init(
            boot: try payload.text("boot", longest: 64),
            wall: try payload.time("wall"),
            bootTime: .nanoseconds(Int64(try payload.count("boottimeNs", upTo: UInt64(Int64.max)))),
            refresh: .seconds(max(Self.refreshes.lowerBound, seconds))
        )
        acknowledged = try payload.optionalPosition("ackedSeq")
        path = try payload.optionalText("path", longest: 64)
        reason = try payload.optionalText("reason")
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("boot", boot)
        object.add("wall", wall.milliseconds)
        object.add("boottimeNs", bootTime.nanoseconds)
        object.add("refresh", refresh.components.seconds)
        object.add("ackedSeq", acknowledged?.description)
        object.add("path", path)
        if let reason { object.add("reason", reason) }
        if let summary { object.add("summary", summary.object) }
        return object
    }
}

/// The presence of the hub. Machines publish their states when the hub starts a new session.
package struct HubState: Hashable, Sendable {
    package let session: String
    package let isOnline: Bool

    package init(session: String, isOnline: Bool) {
        (self.session, self.isOnline) = (session, isOnline)
    }

    private enum Word: String { case online, offline }

    package init(_ bytes: [UInt8]) throws(PayloadError) {
        let payload = try Payload(bytes)
        session = try payload.text("session", longest: 64)
        isOnline = try payload.word("state", Word.self) == .online
    }

    package var bytes: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("session", session)
        object.add("state", (isOnline ? Word.online : .offline).rawValue)
        return object.bytes
    }
}

/// The identity of a machine: its site, and its name at the site.
package struct DeviceID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let site: String
    package let device: String

    /// Returns nil if a name is invalid.
    package init?(site: String, device: String) {
        guard FleetName.isValid(site), FleetName.isValid(device) else { return nil }
        (self.site, self.device) = (site, device)
    }

    /// Reads `SITE/DEVICE`.
    package init?(_ text: String) {
        let parts = text.split(at: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(site: parts[0], device: parts[1])
    }

    package var description: String { "\(site)/\(device)" }

    package static func < (one: DeviceID, other: DeviceID) -> Bool {
        (one.site, one.device) < (other.site, other.device)
    }
}

/// An MQTT topic of a fleet: `reach/v1/SITE/DEVICE/KIND`, or the topic of the hub, `reach/v1/$hub/state`.
///
/// The birth, the state and the will of a machine use the same topic, because MQTT keeps the order of messages only
/// within a topic.
///
/// Source: MQTT 5.0, 4.6, Message ordering.
package enum FleetTopic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of a message of a machine, the last level of its topic.
    package enum Kind: String, Sendable, CaseIterable {
        /// The state of the machine, or its will. Retained.
        case state
        /// Outages and other events, in the order in which they became known.
        case event
        /// The answer to a command.
        case detail
        /// A command to the machine.
        case command = "cmd"
    }

    case device(DeviceID, Kind)
    case hub

    private static let root = "reach/v1"

    /// Parses a topic. Returns nil if the text is not a topic of a fleet.
    package init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let levels = text.split(at: "/", omittingEmptySubsequences: false).map(String.init)
        guard levels.count >= 4, levels[0] == "reach", levels[1] == "v1" else { return nil }
        if levels.count == 4, levels[2] == "$hub", levels[3] == "state" {
            self = .hub
            return
        }
        guard levels.count == 5, let place = DeviceID(site: levels[2], device: levels[3]),
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

    /// Returns the topic filter for messages of one kind from all machines.
    package static func filter(_ kind: Kind) -> String { "\(root)/+/+/\(kind.rawValue)" }
}
