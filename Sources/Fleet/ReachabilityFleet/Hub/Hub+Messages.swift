extension Hub {
    /// Takes a state message of a machine, or its will, which the broker has published.
    mutating func take(
        _ state: DeviceState,
        of place: DeviceID,
        isRetained: Bool
    ) throws(PayloadError) -> [Decision] {
        try admit(place, reported: state.report?.acknowledged)
        var decisions: [Decision] = [.noted(place)]
        let now = now
        var isDisputed = false
        if let report = state.report, !isRetained {
            isDisputed = devices[place]?.note(boot: report.boot, at: now) ?? false
            if isDisputed { decisions.append(.disputed(place)) }
            devices[place]?.clock.record(report, state.session, at: now)
        }
        let former = devices[place]?.presence ?? .init()
        var change = DevicePresence.Change.none
        let stands = standing(place) { change = $0.take(state, isRetained: isRetained, at: now) }
        devices[place]?.note(former: former)
        if let report = state.report, !isRetained { devices[place]?.note(wall: report.wall, of: state.session) }
        switch change {
        case .none, .arrived: return decisions + stands
        case .becameSilent(let since): return decisions + becameSilent(place, since: since)
        case .left: return decisions + stands + left(place, state)
        case .returned(let absence):
            decisions += stands
            let isSameSession = former.session == state.session
            return decisions + returned(place, absence, state.session, isSameSession: isSameSession, isDisputed)
        }
    }

    /// Records the announced absence of a machine.
    private mutating func left(_ place: DeviceID, _ state: DeviceState) -> [Decision] {
        // If the machine was silent before, the announcement explains that silence.
        if devices[place]?.gap.map({ $0.until != nil }) ?? true {
            var gap = DeviceAbsence(since: now, noticed: now)
            gap.evidence.before = state.report
            devices[place]?.gap = gap
        }
        return changeGap(place) { gap in
            switch state.standing {
            case .sleeping: gap.evidence.announcedSleep = true
            default: (gap.evidence.planned, gap.evidence.reason) = (true, state.report?.reason)
            }
        }
    }

    /// Records the return of a machine.
    private mutating func returned(
        _ place: DeviceID,
        _ absence: DevicePresence.Absence,
        _ session: String,
        isSameSession: Bool,
        _ isDisputed: Bool
    ) -> [Decision] {
        if devices[place]?.gap.map({ $0.until != nil }) ?? true {
            // The absence was not noticed while it lasted.
            var gap = DeviceAbsence(since: absence.since, noticed: absence.until)
            gap.evidence.before = absence.before
            devices[place]?.gap = gap
        }
        let pendingSession = devices[place]?.pendingSession ?? .init()
        devices[place]?.pendingSession = .init()
        let forgotten = pendingSession.session == session && pendingSession.hasAllEvents ? recordCaughtUp(place) : []
        return forgotten
            + changeGap(place) { gap in
                gap.until = absence.until
                gap.evidence.before = gap.evidence.before ?? absence.before
                gap.evidence.after = absence.after
                gap.evidence.isDisputed = isDisputed
                gap.evidence.unobserved = absence.standing == .unknown
                let reported = pendingSession.session == session ? pendingSession : .init()
                gap.evidence.slept += reported.slept
                // If the connection was never lost, all events were sent.
                gap.evidence.hasAllEvents = isSameSession || reported.hasAllEvents
            }
    }

    /// Takes an event message of a machine.
    mutating func take(
        _ event: DeviceEvent,
        of place: DeviceID,
        _ isKept: (DeviceID, String) -> Bool
    ) throws(PayloadError) -> [Decision] {
        if let mark = devices[place]?.mark {
            if event.kind == .replaying(mark: mark) { devices[place]?.mark = nil }
            return []
        }
        if let position = event.position, devices[place]?.log.has(position) ?? false { return [] }
        try admit(place, reported: event.after)
        // An event between the two was lost. It must be requested now, because the loss is not visible once the log
        // position has passed it.
        if misses(event.after, of: place) { return [.noted(place)] + requireReplay(place) }
        if let position = event.position { devices[place]?.log.add(position) }
        let now = now
        devices[place]?.clock.record(event.wall, at: now)
        if event.kind == .caughtUp { devices[place]?.completeSession = event.session }
        devices[place]?.note(wall: event.wall, of: event.session)
        return [.noted(place)] + record(event, of: place, isKept)
    }

    private mutating func record(
        _ event: DeviceEvent,
        of place: DeviceID,
        _ isKept: (DeviceID, String) -> Bool
    ) -> [Decision] {
        let isOfNow = event.session == devices[place]?.presence.session
        if case .outage(let outage) = event.kind {
            return record(outage, of: place, in: isOfNow ? devices[place]?.presence.report?.boot : nil, isKept)
        }
        guard isOfNow else {
            var pendingSession = devices[place]?.pendingSession ?? .init()
            if pendingSession.session != event.session { pendingSession = .init(session: event.session) }
            switch event.kind {
            case .resumed(let length): pendingSession.slept += length
            case .caughtUp: pendingSession.hasAllEvents = true
            case .outage, .replaying: break
            }
            devices[place]?.pendingSession = pendingSession
            return []
        }
        let forgotten = event.kind == .caughtUp ? recordCaughtUp(place) : []
        guard let until = devices[place]?.gap?.until, now <= until + Self.patience else { return forgotten }
        return forgotten
            + changeGap(place) { gap in
                switch event.kind {
                case .resumed(let length): gap.evidence.slept += length
                case .caughtUp: gap.evidence.hasAllEvents = true
                case .outage, .replaying: break
                }
            }
    }

    /// Records that a machine has reported all past events.
    private mutating func recordCaughtUp(_ place: DeviceID) -> [Decision] {
        guard let device = devices[place], let boot = device.presence.report?.boot else { return [] }
        return book.recordCaughtUp(place, boot: boot, at: device.formerBootEnd ?? now).map(Decision.incident)
    }

    private mutating func record(
        _ outage: DeviceOutage,
        of place: DeviceID,
        in boot: String?,
        _ isKept: (DeviceID, String) -> Bool
    ) -> [Decision] {
        if !book.contains(outage.id, of: place), isKept(place, outage.id) { return [] }
        guard let clock = devices[place]?.clock else { return [] }
        let start = clock.time(outage.start, at: now)
        let end = outage.end.map { max(clock.time($0, at: now), start) }
        let changes = book.record(place, outage, start: start, end: end, boot: boot).map(Decision.incident)
        return changes + changeGap(place) { $0.consider(outage, end: end) }
    }
}
