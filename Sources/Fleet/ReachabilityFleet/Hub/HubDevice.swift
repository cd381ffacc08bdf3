import LinuxSupport

/// What the hub knows of a machine. A value; times are by the hub's clock, since 1970.
package struct HubDevice: Hashable, Sendable {
    package let place: FleetPlace
    package internal(set) var presence = DevicePresence()
    package internal(set) var clock = DeviceClock()
    package internal(set) var log = EventLog()
    /// The last time in which nothing was heard of it; nil where there was none.
    package internal(set) var gap: DeviceGap?
    /// When it was heard last in the boot before this one.
    package internal(set) var formerBootEnd: Duration?
    /// Its last boots but the one that is.
    package internal(set) var formerBoots: [String] = []
    /// Its last sessions but the one that is.
    package internal(set) var formerSessions: [String] = []
    /// What its wall clock said when it had told all up to then, the last time; nil where it never had.
    package internal(set) var toldUntil: Duration?
    /// The session that has told all, and tells what comes; nil where none has.
    var toldSession: String?
    /// When it was seen last that two machines use its name.
    package internal(set) var disputed: Duration?
    /// How many of its messages were refused.
    package internal(set) var refused: UInt64 = 0
    /// What it tells is passed over until it says this, and tells again from where the log ends: something may be missing in between. Nil
    /// where nothing is.
    package internal(set) var mark: String? {
        didSet {
            asked = nil
            if mark != nil { toldSession = nil }
        }
    }
    /// When it was asked to tell again, with that mark; nil where it was not.
    private var asked: Question?
    var budget = MessageBudget()
    /// What came of a session before its birth: topics do not keep their order among each other.
    var early = Early()

    private struct Question: Hashable, Sendable {
        let session: String
        let time: Duration
    }

    struct Early: Hashable, Sendable {
        var session: String?
        var isToldWhole = false
        var slept: Duration = .zero
    }

    /// So many boots, and so many sessions, are remembered.
    static let formerLimit = 8
    /// A question that was not answered by then is not on its way any more.
    static let askPause: Duration = .seconds(60)

    package init(_ place: FleetPlace) {
        self.place = place
    }

    /// One that was written down.
    package init(
        _ place: FleetPlace,
        presence: DevicePresence,
        clock: DeviceClock,
        log: EventLog,
        gap: DeviceGap?,
        formerBoots: [String],
        formerSessions: [String],
        formerBootEnd: Duration?,
        toldUntil: Duration?,
        disputed: Duration?,
        refused: UInt64
    ) {
        self.place = place
        (self.presence, self.clock, self.log, self.gap) = (presence, clock, log, gap)
        (self.formerBoots, self.formerSessions, self.toldUntil) = (formerBoots, formerSessions, toldUntil)
        (self.formerBootEnd, self.disputed, self.refused) = (formerBootEnd, disputed, refused)
    }

    /// When something becomes of it by itself; nil while nothing can.
    package var deadline: Duration? {
        let answered = gap.flatMap { gap in gap.isAwaited ? gap.until.map { $0 + Hub.patience } : nil }
        guard let silent = presence.deadline, let answered else { return presence.deadline ?? answered }
        return min(silent, answered)
    }

    /// Notes which boot of the machine speaks. No machine goes back to an earlier one: if one comes again, two machines use the name.
    ///
    /// - Returns: Whether that is so.
    mutating func note(boot: String, at now: Duration) -> Bool {
        guard let current = presence.report?.boot, current != boot else { return false }
        let isDisputed = formerBoots.contains(boot)
        formerBoots.removeAll { $0 == boot || $0 == current }
        formerBoots.append(current)
        if formerBoots.count > Self.formerLimit { formerBoots.removeFirst() }
        if isDisputed { disputed = now }
        return isDisputed
    }

    /// Whether it has said something later than this: a broker that was killed may repeat what it had on the disk.
    func isOld(_ state: DeviceState, isRetained: Bool) -> Bool {
        if formerSessions.contains(state.session) { return true }
        guard state.session == presence.session, let report = state.report, let known = presence.report,
            report.boot == known.boot
        else { return false }
        return report.bootTime < known.bootTime || (!isRetained && report == known && presence.standing != .online)
    }

    /// How it was before it said what it did: another session may speak now, and another boot.
    mutating func note(former: DevicePresence) {
        if let boot = former.report?.boot, boot != presence.report?.boot { formerBootEnd = former.heard }
        guard let session = former.session, session != presence.session else { return }
        formerSessions.append(session)
        if formerSessions.count > Self.formerLimit { formerSessions.removeFirst() }
    }

    /// Whether it is to be asked to tell again because it has said that it is there: its answer says that, too, and may come before the
    /// rest of it.
    mutating func mayBeAsked(at now: Duration) -> Bool {
        guard let session = presence.session else { return false }
        if let asked, asked.session == session, now < asked.time + Self.askPause { return false }
        asked = Question(session: session, time: now)
        return true
    }

    /// It has said what its wall clock is, in order with all else of the session.
    mutating func note(wall: Duration, of session: String) {
        if mark == nil, toldSession == session { toldUntil = wall }
    }
}

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
