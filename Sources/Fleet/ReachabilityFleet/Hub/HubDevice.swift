import LinuxSupport

/// A machine. A value. Times are of the hub's clock, since 1970.
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
    /// The wall clock of the machine when it had last sent all events; nil for never.
    package internal(set) var toldUntil: Duration?
    /// The session that has sent all past events; nil for none.
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
    /// When a replay with that mark was requested; nil for never.
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

    /// The maximum number of remembered boots and sessions.
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

    /// The next time at which a decision may follow without a message; nil for none.
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

    /// Whether a later message is known. A broker that was killed may repeat old messages from its disk.
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

    /// Records the wall clock of a message of a session.
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

/// The record of the part of a machine in an incident.
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

/// What a machine's times are by the hub's clock. Its own may be wrong by years, and may be set; what it says of times is only good for
/// how far they are apart.
///
/// A message may have been on its way for long, for brokers and machines keep what they cannot send. So of all that was said since its
/// clock was set, that counts which came the soonest.
package struct DeviceClock: Hashable, Sendable {
    /// No message is on its way for longer: then the clock was set back.
    static let longestWay: Duration = .seconds(7 * 86400)
    /// The maximum drift of clocks between two reports.
    static let drift: Duration = .seconds(2)

    /// How far the hub's clock is ahead of the machine's; nil where nothing was said yet.
    package private(set) var offset: Duration?
    private var session: String?
    /// How far the machine's wall clock is ahead of its CLOCK_BOOTTIME.
    private var base: Duration?

    package init() {}

    package init(offset: Duration?) {
        self.offset = offset
    }

    /// A report says what both clocks of the machine are.
    package mutating func hear(_ report: DeviceState.Report, _ session: String, at now: Duration) {
        let base = report.wall - report.bootTime
        let wasSet = self.base.map { abs($0 - base) > Self.drift } ?? true
        if wasSet || self.session != session { offset = nil }
        (self.base, self.session) = (base, session)
        hear(report.wall, at: now)
    }

    /// A message says what its wall clock was when it was sent.
    package mutating func hear(_ wall: Duration, at now: Duration) {
        let candidate = now - wall
        guard let offset, candidate >= offset, candidate - offset <= Self.longestWay else {
            offset = candidate
            return
        }
    }

    /// A time of the machine by the hub's clock, from 1970 until now: a machine may report any time, and no event is in the future.
    package func time(_ wall: Duration, at now: Duration) -> Duration {
        max(.zero, min(wall + (offset ?? .zero), now))
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}

/// Which events of a machine's log were taken: those that come again are dropped. They come in the order of the log, and all again from
/// what was acknowledged last.
package struct EventLog: Hashable, Sendable {
    /// The maximum number of remembered runs of the machine's service.
    static let epochs = 4

    /// The last position of each run, the latest run last.
    package private(set) var newest: [EventPosition] = []

    package init() {}

    package init(_ newest: [EventPosition]) {
        self.newest = Array(newest.suffix(Self.epochs))
    }

    package func has(_ position: EventPosition) -> Bool {
        newest.contains { $0.epoch == position.epoch && $0.number >= position.number }
    }

    package mutating func add(_ position: EventPosition) {
        newest.removeAll { $0.epoch == position.epoch }
        newest.append(position)
        if newest.count > Self.epochs { newest.removeFirst() }
    }
}

/// The rate limit of the messages of a machine: a burst as large as the queue of a broker, then 50 a second. An agent sends 20.
struct MessageBudget: Hashable, Sendable {
    static let burst: Int64 = 2000
    static let perSecond: Int64 = 50

    private var left = Self.burst * 1000
    private var counted: Duration?

    /// Whether another message is allowed.
    mutating func take(at now: Duration) -> Bool {
        if let counted, now > counted {
            let earned = min((now - counted).milliseconds, Self.burst * 1000) * Self.perSecond
            left = min(left + earned, Self.burst * 1000)
        }
        counted = now
        guard left >= 1000 else { return false }
        left -= 1000
        return true
    }
}
