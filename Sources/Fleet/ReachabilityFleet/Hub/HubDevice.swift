import LinuxSupport

/// The state of a machine in the hub. A value. Times are by the hub's clock, since 1970.
package struct HubDevice: Hashable, Sendable {
    package let place: DeviceID
    package internal(set) var presence = DevicePresence()
    package internal(set) var clock = DeviceClock()
    package internal(set) var log = EventLog()
    /// The last absence of the machine; nil if there was none.
    package internal(set) var gap: DeviceAbsence?
    /// The time of the last message in the previous boot.
    package internal(set) var formerBootEnd: Duration?
    /// The ids of the previous boots, the latest last.
    package internal(set) var formerBoots: [String] = []
    /// The ids of the previous sessions, the latest last.
    package internal(set) var formerSessions: [String] = []
    /// The wall clock of the machine when it had last sent all events; nil for never.
    package internal(set) var completeUntil: Duration?
    /// The session that has sent all past events; nil for none.
    var completeSession: String?
    /// The last time at which two machines used this name.
    package internal(set) var disputed: Duration?
    /// The number of refused messages of the machine.
    package internal(set) var refused: UInt64 = 0
    /// The mark of the requested replay; nil if no event is missing. Events of the machine are ignored until it sends
    /// this mark. It then repeats all events after the last one that the hub has.
    package internal(set) var mark: String? {
        didSet {
            lastRequest = nil
            if mark != nil { completeSession = nil }
        }
    }
    /// The last request of a replay with that mark; nil if there was none.
    private var lastRequest: ReplayRequest?
    var budget = MessageBudget()
    /// The facts of a session whose birth message has not arrived yet. MQTT does not keep the order of messages across
    /// topics.
    var pendingSession = PendingSession()

    private struct ReplayRequest: Hashable, Sendable {
        let session: String
        let time: Duration
    }

    /// Facts about a session that are known before its birth message.
    struct PendingSession: Hashable, Sendable {
        var session: String?
        var hasAllEvents = false
        var slept: Duration = .zero
    }

    /// The maximum number of remembered boots and sessions.
    static let formerLimit = 8
    /// The time after which an unanswered replay request is regarded as lost.
    static let replayPause: Duration = .seconds(60)

    package init(_ place: DeviceID) {
        self.place = place
    }

    /// The next time at which the hub may decide without a message; nil for none.
    package var deadline: Duration? {
        let answered = gap.flatMap { gap in gap.isAwaited ? gap.until.map { $0 + Hub.patience } : nil }
        guard let silent = presence.deadline, let answered else { return presence.deadline ?? answered }
        return min(silent, answered)
    }

    /// Records the boot id of the machine. A machine never returns to an earlier boot. If an earlier boot id appears
    /// again, two machines use the name.
    ///
    /// - Returns: Whether two machines use the name.
    mutating func note(boot: String, at now: Duration) -> Bool {
        guard let current = presence.report?.boot, current != boot else { return false }
        let isDisputed = formerBoots.contains(boot)
        formerBoots.removeAll { $0 == boot || $0 == current }
        formerBoots.append(current)
        if formerBoots.count > Self.formerLimit { formerBoots.removeFirst() }
        if isDisputed { disputed = now }
        return isDisputed
    }

    /// True if a later message is already known. A broker that was killed may deliver old messages from its disk again.
    func isOld(_ state: DeviceState, isRetained: Bool) -> Bool {
        if formerSessions.contains(state.session) { return true }
        guard state.session == presence.session, let report = state.report, let known = presence.report,
            report.boot == known.boot
        else { return false }
        return report.bootTime < known.bootTime || (!isRetained && report == known && presence.standing != .online)
    }

    /// Records the presence before the current message, in case the session or the boot has changed.
    mutating func note(former: DevicePresence) {
        if let boot = former.report?.boot, boot != presence.report?.boot { formerBootEnd = former.lastMessage }
        guard let session = former.session, session != presence.session else { return }
        formerSessions.append(session)
        if formerSessions.count > Self.formerLimit { formerSessions.removeFirst() }
    }

    /// Whether to request a replay after an online message. A request is not repeated within ``replayPause`` in the same
    /// session, because each answer contains another online message, which may arrive before the events.
    mutating func mayRequestReplay(at now: Duration) -> Bool {
        guard let session = presence.session else { return false }
        if let lastRequest, lastRequest.session == session, now < lastRequest.time + Self.replayPause { return false }
        lastRequest = ReplayRequest(session: session, time: now)
        return true
    }

    /// Records the wall clock of a message of a session.
    mutating func note(wall: Duration, of session: String) {
        if mark == nil, completeSession == session { completeUntil = wall }
    }
}

/// The stored record of a machine, a JSON object. Times are in milliseconds. The record excludes short-lived values,
/// such as the message budget.
extension HubDevice {
    package var record: [UInt8] {
        var object = JSONObject()
        object.add("schema", 1)
        object.add("standing", presence.standing.rawValue)
        object.add("session", presence.session)
        object.add("report", presence.report?.object)
        object.add("heard", optional: presence.lastMessage?.milliseconds)
        object.add("offset", optional: clock.offset?.milliseconds)
        object.add("log", log.newest.map(\.description))
        object.add("gap", gap?.object)
        object.add("boots", formerBoots)
        object.add("sessions", formerSessions)
        object.add("formerBootEnd", optional: formerBootEnd?.milliseconds)
        object.add("toldUntil", optional: completeUntil?.milliseconds)
        object.add("disputed", optional: disputed?.milliseconds)
        object.add("refused", refused)
        return object.bytes
    }

    package init(_ place: DeviceID, record: [UInt8]) throws(PayloadError) {
        let payload = try Payload(record, longest: .max)
        self.init(place)
        presence = DevicePresence(
            standing: try payload.word("standing"),
            session: try payload.optionalText("session"),
            report: try payload.optional("report", DeviceState.Report.init),
            lastMessage: try payload.optionalDuration("heard")
        )
        clock = DeviceClock(offset: try payload.optionalDuration("offset"))
        log = EventLog(try payload.texts("log").compactMap { EventPosition($0) })
        gap = try payload.optional("gap", DeviceAbsence.init)
        formerBoots = try payload.texts("boots")
        formerSessions = try payload.texts("sessions")
        formerBootEnd = try payload.optionalDuration("formerBootEnd")
        completeUntil = try payload.optionalDuration("toldUntil")
        disputed = try payload.optionalDuration("disputed")
        refused = min(try payload.count("refused"), .max / 2)
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
            outages.values.sorted { ($0.start, $0.reported.id) < ($1.start, $1.reported.id) }.map { outage in
                var object = outage.reported.object
                object.add("hubStart", outage.start.milliseconds)
                object.add("hubEnd", optional: outage.end?.milliseconds)
                if let boot = outage.boot { object.add("boot", boot) }
                return object
            }
        )
        return object.bytes
    }

    package init(record: [UInt8]) throws(PayloadError) {
        let payload = try Payload(record, longest: .max)
        self.init()
        silentSince = try payload.optionalDuration("silentSince")
        gap = try payload.optional("gap", DeviceAbsence.init)
        for object in try payload.objects("outages") {
            let reported = try DeviceOutage(object)
            guard let start = try object.optionalDuration("hubStart") else {
                throw PayloadError("\"hubStart\" is missing")
            }
            let end = try object.optionalDuration("hubEnd")
            outages[reported.id] = .init(
                reported: reported,
                start: start,
                end: end,
                boot: try object.optionalText("boot")
            )
        }
    }
}

extension DeviceAbsence {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("since", since.milliseconds)
        object.add("noticed", noticed.milliseconds)
        object.add("until", optional: until?.milliseconds)
        object.add("isGivenUp", isGivenUp)
        object.add("planned", evidence.planned)
        object.add("reason", evidence.reason)
        object.add("saidSleep", evidence.announcedSleep)
        object.add("isDisputed", evidence.isDisputed)
        object.add("before", evidence.before?.object)
        object.add("after", evidence.after?.object)
        object.add("outages", evidence.outages.map(\.object))
        object.add("slept", evidence.slept.milliseconds)
        object.add("unobserved", evidence.unobserved)
        object.add("isToldWhole", evidence.hasAllEvents)
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
        evidence.announcedSleep = try payload.truth("saidSleep")
        evidence.isDisputed = try payload.truth("isDisputed")
        evidence.before = try payload.optional("before", DeviceState.Report.init)
        evidence.after = try payload.optional("after", DeviceState.Report.init)
        for object in try payload.objects("outages") { evidence.outages.append(try DeviceOutage(object)) }
        evidence.slept = try payload.optionalDuration("slept") ?? .zero
        evidence.unobserved = try payload.truth("unobserved")
        evidence.hasAllEvents = try payload.truth("isToldWhole")
    }
}

/// A conversion from the wall clock of a machine to the hub's clock. The clock of a machine may be wrong by years, and
/// may be set. Only differences between its times are reliable.
///
/// Brokers and machines queue messages that they cannot send, so a message may arrive late. The message with the
/// shortest delay since the clock was set determines the offset.
package struct DeviceClock: Hashable, Sendable {
    /// The maximum delay of a message. A longer apparent delay means that the machine's clock was set back.
    static let maximumDelay: Duration = .seconds(7 * 86400)
    /// The maximum drift between the wall clock and CLOCK_BOOTTIME of a machine between two reports.
    static let drift: Duration = .seconds(2)

    /// The difference between the hub's clock and the machine's wall clock; nil before the first message.
    package private(set) var offset: Duration?
    private var session: String?
    /// The difference between the machine's wall clock and its CLOCK_BOOTTIME.
    private var base: Duration?

    package init() {}

    package init(offset: Duration?) {
        self.offset = offset
    }

    /// Records a report, which contains both clocks of the machine.
    package mutating func record(_ report: DeviceState.Report, _ session: String, at now: Duration) {
        let base = report.wall - report.bootTime
        let wasSet = self.base.map { abs($0 - base) > Self.drift } ?? true
        if wasSet || self.session != session { offset = nil }
        (self.base, self.session) = (base, session)
        record(report.wall, at: now)
    }

    /// Records a message with the wall clock at which the machine sent it.
    package mutating func record(_ wall: Duration, at now: Duration) {
        let candidate = now - wall
        guard let offset, candidate >= offset, candidate - offset <= Self.maximumDelay else {
            offset = candidate
            return
        }
    }

    /// Converts a time of the machine into the hub's clock. The result is limited to the range from 1970 until now,
    /// because a machine may report any time and no event is in the future.
    package func time(_ wall: Duration, at now: Duration) -> Duration {
        max(.zero, min(wall + (offset ?? .zero), now))
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}

/// The events of a machine's log that the hub has. Repeated events are dropped. A machine sends events in the order of
/// its log, and repeats those after the last acknowledged one.
package struct EventLog: Hashable, Sendable {
    /// The maximum number of remembered runs of the machine's service.
    static let epochs = 4

    /// The last position of each run of the machine's service, the latest run last.
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

/// A rate limit for the messages of a machine: a burst of 2,000, which is the size of a broker's queue, then 250 per
/// second. An agent sends a burst of at most 1,000 events, then one event per ``DeviceEvent/pause``.
struct MessageBudget: Hashable, Sendable {
    static let burst: Int64 = 2000
    static let perSecond = 1250 / DeviceEvent.pause.milliseconds

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
