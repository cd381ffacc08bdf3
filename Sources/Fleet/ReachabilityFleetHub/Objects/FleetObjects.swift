import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

extension Hub {
    /// Returns the JSON object of a machine. Times are by the hub's clock.
    func item(of device: HubDevice) -> Item {
        let presence = device.presence
        var object = JSONObject()
        object.add("schema", 1)
        object.add("site", device.place.site)
        object.add("device", device.place.device)
        object.add("standing", presence.standing.rawValue)
        object.add("path", presence.standing == .online ? presence.report?.path : nil)
        object.add("lastMessage", presence.lastMessage.map { Timestamp(real: $0).text })
        object.add("boot", presence.report?.boot)
        object.add("session", presence.session)
        object.add("clockOffsetMilliseconds", optional: device.clock.offset?.milliseconds)
        object.add("event", device.log.newest.last?.description)
        object.add("silence", device.gap?.object(verdict(of: device.place)))
        object.add("incident", book.open(of: device.place)?.id)
        object.add("disputed", device.disputed.map { Timestamp(real: $0).text })
        object.add("refused", device.refused)
        object.add("kind", "device")
        return Item(key: device.place.description, object: object, text: line(of: device))
    }

    /// Returns a line such as `north/door-7: silent since 2026-11-21T08:15:30.123Z, unexplained`.
    private func line(of device: HubDevice) -> String {
        let presence = device.presence
        var words = "\(device.place): \(presence.standing.rawValue)"
        if presence.standing != .online, let gap = device.gap, gap.until == nil {
            let verdict = verdict(of: device.place) ?? .unexplained
            words += " since \(Timestamp(real: gap.since).text), \(verdict.text)"
        } else if let lastMessage = presence.lastMessage {
            words += ", last message \(Timestamp(real: lastMessage).text)"
        }
        return words
    }
}

extension DeviceAbsence {
    /// Returns the times and the reason of the absence. `since` is the time of the last message before it.
    func object(_ verdict: SilenceVerdict?) -> JSONObject {
        let verdict = verdict ?? .unexplained
        var object = JSONObject()
        object.add("since", Timestamp(real: since))
        object.add("noticed", Timestamp(real: noticed))
        object.add("until", until.map { Timestamp(real: $0).text })
        object.add("verdict", verdict.word)
        object.add("attribution", verdict.attribution?.rawValue)
        object.add("cause", verdict.cause?.rawValue)
        if case .planned(let reason) = verdict { object.add("reason", reason) }
        return object
    }
}

extension SilenceVerdict {
    /// A short text.
    var text: String {
        switch self {
        case .planned(let reason): "planned\(reason.map { ": \($0.printable)" } ?? "")"
        case .outage(let outage):
            "\(outage.attribution.rawValue)\(outage.cause.map { ".\($0.rawValue.printable)" } ?? "")"
        default: word
        }
    }
}

extension IncidentSummary {
    /// The maximum number of sites in a line.
    private static let lineLimit = 10

    /// Returns the incident as an item of a list.
    ///
    /// - Parameters:
    ///   - now: The time by the hub's clock.
    ///   - siteCount: The number of sites of the fleet.
    func item(at now: Duration, of siteCount: Int) -> Item {
        Item(key: id, object: object(at: now, of: siteCount), text: line(at: now, of: siteCount))
    }

    /// Returns the affected sites, and the number of sites of the fleet; nil if only one is affected.
    func spread(of siteCount: Int) -> Incident.Spread? {
        sites.count > 1 ? .init(target: target, sites: sites, total: max(siteCount, sites.count)) : nil
    }

    /// Returns a heading such as `No route at north`, or `erp is down from 3 of 4 sites`.
    func heading(of siteCount: Int) -> String {
        FaultDescription.heading(attribution, cause, at: site, spread(of: siteCount), isOver: end != nil)
    }

    func object(at now: Duration, of siteCount: Int) -> JSONObject {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("id", id)
        object.add("site", site)
        object.add("sites", Array(sites.prefix(Self.nameLimit)))
        object.add("siteCount", sites.count)
        object.add("siteTotal", max(siteCount, sites.count))
        object.add("devices", devices)
        object.add("deviceCount", deviceCount)
        object.add("target", target)
        object.add("attribution", attribution.rawValue)
        object.add("cause", cause?.rawValue)
        object.add("start", Timestamp(real: start))
        object.add("end", end.map { Timestamp(real: $0).text })
        // The clock may have been set back since the start.
        object.add("durationMilliseconds", max(.zero, (end ?? now) - start).milliseconds)
        object.add("isUnexplained", isUnexplained)
        object.add("isHarmless", isHarmless)
        object.add("kind", "incident")
        return object
    }

    /// Returns a line such as `2026-11-21T08:15:30.123Z north: us.link for 4.001s, 12 devices, north-m1-door-7`. If the
    /// incident affects several sites, the line has their names, such as `erp is down from 2 of 4 sites (north, south)`.
    func line(at now: Duration, of siteCount: Int) -> String {
        let fault = "\(attribution.rawValue)\(cause.map { ".\($0.rawValue.printable)" } ?? "")"
        let length = "for \(max(.zero, (end ?? now) - start).people)\(end == nil ? ", ongoing" : "")"
        let unexplained = isUnexplained ? ", some unexplained" : ""
        let machines = deviceCount == 1 ? devices.first ?? "1 device" : "\(deviceCount) devices"
        let rest = sites.count - Self.lineLimit
        let names = sites.prefix(Self.lineLimit).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        let place = sites.count > 1 ? "\(heading(of: siteCount).printable) (\(names))" : site
        return "\(Timestamp(real: start).text) \(place): \(fault) \(length), \(machines)\(unexplained), \(id)"
    }
}

extension FleetIncident {
    /// The maximum number of machines in a response.
    static let partLimit = 10_000

    /// Returns the incident with the parts of its machines.
    func item(at now: Duration, of siteCount: Int) -> Item {
        let summary = IncidentSummary(self)
        var object = summary.object(at: now, of: siteCount)
        let devices = devices.prefix(Self.partLimit)
        object.add("parts", devices.compactMap { device in parts[device].map { self.object(of: $0, device) } })
        return Item(
            key: id,
            object: object,
            text: summary.line(at: now, of: siteCount),
            report: ([summary.line(at: now, of: siteCount)] + devices.flatMap(lines)).joined(separator: "\n")
        )
    }

    private func object(of part: Part, _ device: String) -> JSONObject {
        var object = JSONObject()
        object.add("site", place(of: device)?.site ?? site)
        object.add("device", place(of: device)?.device ?? device)
        object.add("isOpen", part.isOpen)
        object.add("silence", part.gap?.object(verdict(of: device)))
        object.add("outages", part.inOrder.map(\.object))
        return object
    }

    private func lines(of device: String) -> [String] {
        guard let part = parts[device] else { return [] }
        let name = isShared ? place(of: device)?.description ?? device : device
        let silence = part.gap.map { gap in
            let end = gap.until.map { "to \(Timestamp(real: $0).text)" } ?? "ongoing"
            let verdict = verdict(of: device) ?? .unexplained
            return "  \(name): silent from \(Timestamp(real: gap.since).text) \(end): \(verdict.text)"
        }
        return [silence].compactMap(\.self) + part.inOrder.map { "  \(name): \($0.line)" }
    }
}

extension FleetIncident.Part {
    /// The outages of the machine, the earliest first.
    var inOrder: [FleetIncident.ReportedOutage] {
        outages.values.sorted { ($0.start, $0.reported.id) < ($1.start, $1.reported.id) }
    }
}

extension FleetIncident.ReportedOutage {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("id", reported.id)
        object.add("target", reported.target)
        object.add("attribution", reported.attribution.rawValue)
        object.add("cause", reported.cause?.rawValue)
        object.add("start", Timestamp(real: start))
        object.add("end", end.map { Timestamp(real: $0).text })
        return object
    }

    fileprivate var line: String {
        let fault = "\(reported.attribution.rawValue)\(reported.cause.map { ".\($0.rawValue.printable)" } ?? "")"
        let end = end.map { "to \(Timestamp(real: $0).text)" } ?? "ongoing"
        return "\(reported.target.printable): \(fault) from \(Timestamp(real: start).text) \(end)"
    }
}
