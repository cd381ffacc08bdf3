import LinuxSupport
import ReachabilityLedger

/// The internet connection of a machine in a few values, which the agent adds to the state message for home automation.
package struct DeviceSummary: Hashable, Sendable {
    /// The party responsible for the current outage.
    package enum Party: String, Sendable, CaseIterable {
        case noParty = "none"
        case machine = "this machine"
        case provider, target
    }

    /// Whether the internet is reachable; nil if it is not known.
    package var isUp: Bool?
    /// Nil if it is not known.
    package var party: Party?
    /// The cause of the latest outage as a sentence; nil if there was none.
    package var lastCause: String?
    /// The duration of the outages of today, by the time zone of the machine; nil if it is not known.
    package var lostToday: Duration?
    /// The latency of the latest check; nil without one.
    package var latency: Duration?

    /// Creates the summary of a machine whose service has no results.
    ///
    /// - Parameter path: The path to the internet, as in ``DeviceState/Report/path``.
    package init(path: String?) {
        isUp = path == "reachable" ? true : path == "notReachable" ? false : nil
    }
}

extension DeviceSummary {
    /// Reads responses of the service.
    ///
    /// - Parameters:
    ///   - target: The response to `/v1/targets/NAME`.
    ///   - availability: The response to `/v1/targets/NAME/availability` for today.
    package init(target: [UInt8], availability: [UInt8]) throws(PayloadError) {
        let state = try Payload(target, longest: 1 << 20)
        switch try state.word("attribution", Attribution.self) {
        case .up: (isUp, party) = (true, Party.noParty)
        case .us: (isUp, party) = (false, .machine)
        case .upstream: (isUp, party) = (false, .provider)
        case .them: (isUp, party) = (false, .target)
        case .unknown: break
        }
        let latency = try state.optionalObject("check")?.optionalCount("latencyMicroseconds", upTo: UInt64(Int32.max))
        self.latency = latency.map { .microseconds(Int64($0)) }
        guard let seconds = try Payload.list(availability).items.first?.optionalObject("seconds") else { return }
        var lost = Duration.zero
        for attribution in [Attribution.us, .upstream, .them] {
            lost += try seconds.optionalSeconds(attribution.rawValue) ?? .zero
        }
        lostToday = lost
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("internet", isUp.map { $0 ? "up" : "down" })
        object.add("party", party?.rawValue)
        object.add("lastCause", lastCause)
        object.add("lostTodaySeconds", optional: lostToday?.components.seconds)
        let milliseconds = latency.map { ($0.nanoseconds / 1000).decimal(places: 3) }
        object.add("latencyMilliseconds", number: milliseconds ?? "null")
        return object
    }
}
