import LinuxSupport

/// What is written down of a machine: an object of JSON, for no store asks for its parts; times are in milliseconds. What is bound to a
/// moment, as the budget, is left out.
extension HubDevice {
    package var record: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("standing", presence.standing.rawValue)
        object.add("session", presence.session)
        object.add("report", presence.report?.object)
        object.add("heard", optional: presence.heard?.milliseconds)
        object.add("offset", optional: clock.offset?.milliseconds)
        object.add("log", log.newest.map(\.description))
        object.add("gap", gap?.object)
        object.add("boots", formerBoots)
        object.add("sessions", formerSessions)
        object.add("formerBootEnd", optional: formerBootEnd?.milliseconds)
        object.add("toldUntil", optional: toldUntil?.milliseconds)
        object.add("disputed", optional: disputed?.milliseconds)
        object.add("refused", refused)
        return object.bytes
    }

    /// - Throws: What is wrong with what ``record`` was.
    package init(_ place: FleetPlace, record: [UInt8]) throws(PayloadError) {
        let payload = try Payload(record, longest: .max)
        let presence = DevicePresence(
            standing: try payload.word("standing"),
            session: try payload.optionalText("session"),
            report: try payload.optionalObject("report").map { object throws(PayloadError) in
                try DeviceState.Report(object)
            },
            heard: try payload.optionalDuration("heard")
        )
        self.init(
            place,
            presence: presence,
            clock: DeviceClock(offset: try payload.optionalDuration("offset")),
            log: EventLog(try payload.texts("log").compactMap { EventPosition($0) }),
            gap: try payload.optionalObject("gap").map { object throws(PayloadError) in try DeviceGap(object) },
            formerBoots: try payload.texts("boots"),
            formerSessions: try payload.texts("sessions"),
            formerBootEnd: try payload.optionalDuration("formerBootEnd"),
            toldUntil: try payload.optionalDuration("toldUntil"),
            disputed: try payload.optionalDuration("disputed"),
            refused: min(try payload.count("refused"), .max / 2)
        )
    }
}

/// The same of what befell a machine in an incident.
extension FleetIncident.Part {
    package var record: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("silentSince", optional: silentSince?.milliseconds)
        object.add("gap", gap?.object)
        object.add(
            "outages",
            outages.values.sorted { ($0.start, $0.told.id) < ($1.start, $1.told.id) }.map { outage in
                var object = outage.told.object
                object.add("hubStart", outage.start.milliseconds)
                object.add("hubEnd", optional: outage.end?.milliseconds)
                if let boot = outage.boot { object.add("boot", boot) }
                return object
            }
        )
        return object.bytes
    }

    /// - Throws: What is wrong with what ``record`` was.
    package init(record: [UInt8]) throws(PayloadError) {
        let payload = try Payload(record, longest: .max)
        self.init()
        silentSince = try payload.optionalDuration("silentSince")
        gap = try payload.optionalObject("gap").map { object throws(PayloadError) in try DeviceGap(object) }
        for object in try payload.objects("outages") {
            let told = try DeviceOutage(object)
            guard let start = try object.optionalDuration("hubStart") else {
                throw PayloadError("\"hubStart\" is missing")
            }
            let end = try object.optionalDuration("hubEnd")
            outages[told.id] = .init(told: told, start: start, end: end, boot: try object.optionalText("boot"))
        }
    }
}

extension DeviceGap {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("since", since.milliseconds)
        object.add("noticed", noticed.milliseconds)
        object.add("until", optional: until?.milliseconds)
        object.add("isGivenUp", isGivenUp)
        object.add("planned", evidence.planned)
        object.add("reason", evidence.reason)
        object.add("saidSleep", evidence.saidSleep)
        object.add("isDisputed", evidence.isDisputed)
        object.add("before", evidence.before?.object)
        object.add("after", evidence.after?.object)
        object.add("outages", evidence.outages.map(\.object))
        object.add("slept", evidence.slept.milliseconds)
        object.add("unobserved", evidence.unobserved)
        object.add("isToldWhole", evidence.isToldWhole)
        return object
    }

    fileprivate init(_ payload: Payload) throws(PayloadError) {
        guard let since = try payload.optionalDuration("since"), let noticed = try payload.optionalDuration("noticed")
        else { throw PayloadError("\"since\" or \"noticed\" is missing") }
        self.init(since: since, noticed: noticed)
        until = try payload.optionalDuration("until")
        isGivenUp = try payload.truth("isGivenUp")
        evidence.planned = try payload.truth("planned")
        evidence.reason = try payload.optionalText("reason")
        evidence.saidSleep = try payload.truth("saidSleep")
        evidence.isDisputed = try payload.truth("isDisputed")
        func report(_ key: String) throws(PayloadError) -> DeviceState.Report? {
            guard let object = try payload.optionalObject(key) else { return nil }
            return try DeviceState.Report(object)
        }
        evidence.before = try report("before")
        evidence.after = try report("after")
        for object in try payload.objects("outages") { evidence.outages.append(try DeviceOutage(object)) }
        evidence.slept = try payload.optionalDuration("slept") ?? .zero
        evidence.unobserved = try payload.truth("unobserved")
        evidence.isToldWhole = try payload.truth("isToldWhole")
    }
}
