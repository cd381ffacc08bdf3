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
