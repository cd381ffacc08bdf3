import LinuxSupport

/// How a machine is, as it says itself, or as the broker says for it when it falls silent (its will).
package struct DeviceState: Hashable, Sendable {
    package enum Standing: String, Sendable, CaseIterable {
        case online
        /// Said by the broker: the connection is gone.
        case offline
        /// The machine goes to sleep.
        case sleeping
        /// It goes, and means to.
        case leaving
    }

    /// What a machine says of itself; a will has none of it.
    package struct Report: Hashable, Sendable {
        /// Which boot of the machine this is.
        package var boot: String
        /// Its wall clock, since 1970, which may be wrong by years.
        package var wall: Duration
        /// CLOCK_BOOTTIME.
        package var bootTime: Duration
        /// So often it says how it is, at least.
        package var refresh: Duration
        /// The last place in its event log that it has told of, and that the broker has; nil where there is none yet.
        package var acknowledged: EventPosition?
        /// Whether it has a path to the internet: `reachable`, `notReachable` or `unknown`.
        package var path: String?
        /// Why it leaves.
        package var reason: String?

        package init(boot: String, wall: Duration, bootTime: Duration, refresh: Duration) {
            (self.boot, self.wall, self.bootTime, self.refresh) = (boot, wall, bootTime, refresh)
        }
    }

    /// Another for each connection. A will counts only if its session is the newest known.
    package let session: String
    package let standing: Standing
    package let report: Report?

    package init(session: String, standing: Standing, report: Report?) {
        (self.session, self.standing, self.report) = (session, standing, report)
    }

    /// What the broker is to say when the connection of that session ends without a word.
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
    /// The shortest and the longest time between two reports that is believed.
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
        return object
    }
}
