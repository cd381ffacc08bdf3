package import ReachabilityLedger

/// The presence of a machine, from its messages and those of the broker. A value without a clock.
///
/// The broker is not believed in two cases. A will counts only if its session is the newest known: who connects again before the broker
/// has noticed the end of the old connection is told offline afterwards. And what it kept over a restart says "online" for machines that
/// are gone, so a retained report makes nobody online; only a word that is sent now does.
package struct DevicePresence: Hashable, Sendable {
    package enum Standing: String, Sendable, CaseIterable {
        case online
        /// Not heard of, without an announcement.
        case silent
        /// Nothing is known now: the hub or the broker has just started, or the broker is away.
        case unknown
        case sleeping, leaving
    }

    /// What became of it with a message.
    package enum Change: Hashable, Sendable {
        case none
        /// The machine is silent since this time.
        case fell(since: Duration)
        /// It is there, after an absence that is to be explained.
        case returned(Absence)
        /// It is there, and was not known before.
        case arrived
        /// It went, and said so.
        case left
    }

    /// The time between the last word of a machine and the next.
    package struct Absence: Hashable, Sendable {
        /// Nil where the broker had said that it is gone before it was ever heard of.
        package let before: DeviceState.Report?
        package let after: DeviceState.Report
        /// The standing during the absence; ``DevicePresence/Standing/online`` if it was not noticed.
        package let standing: Standing
        /// When it was last heard of, and when again, by the hub's clock.
        package let since: Duration
        package let until: Duration

        package init(
            before: DeviceState.Report?,
            after: DeviceState.Report,
            standing: Standing,
            since: Duration,
            until: Duration
        ) {
            (self.before, self.after, self.standing) = (before, after, standing)
            (self.since, self.until) = (since, until)
        }
    }

    /// The number of reports that may be missed.
    package static let missedReports = 3

    package private(set) var standing = Standing.unknown
    /// The newest known.
    package private(set) var session: String?
    package private(set) var report: DeviceState.Report?
    /// The hub's time of the last message; nil if there was only a retained one.
    package private(set) var heard: Duration?
    /// Since when it could be heard: when the first message of it came, retained ones too, or when the broker came back, which was away.
    private var listening: Duration?
    /// Whether there is no connection to the broker.
    private var isBrokerAway = false

    package init() {}

    /// One that was written down.
    package init(standing: Standing, session: String?, report: DeviceState.Report?, heard: Duration?) {
        (self.standing, self.session, self.report, self.heard) = (standing, session, report, heard)
    }

    /// When it counts as gone if nothing more is heard; nil while that cannot happen.
    package var deadline: Duration? {
        guard standing == .online || standing == .unknown, !isBrokerAway, let report,
            let since = [heard, listening].compactMap(\.self).max()
        else { return nil }
        return since + report.refresh * Self.missedReports
    }

    /// - Parameters:
    ///   - isRetained: Whether the message was retained by the broker.
    ///   - now: The hub's clock.
    package mutating func take(_ state: DeviceState, isRetained: Bool, at now: Duration) -> Change {
        listening = listening ?? now
        guard let report = state.report else { return fall(state, at: now) }
        if state.standing == .online {
            return isRetained ? remember(state, report) : hear(state, report, at: now)
        }
        guard session == nil || session == state.session else { return .none }
        (session, self.report) = (state.session, report)
        if !isRetained { heard = now }
        standing = state.standing == .sleeping ? .sleeping : .leaving
        return .left
    }

    /// Advances the time.
    package mutating func pass(to now: Duration) -> Change {
        guard let deadline, now >= deadline else { return .none }
        let since = heard ?? listening ?? now
        standing = .silent
        return .fell(since: since)
    }

    /// The broker was away, so earlier messages are not reliable.
    package mutating func brokerWasLost() {
        if standing == .online { standing = .unknown }
        isBrokerAway = true
    }

    /// It is there again, and everybody gets the time to be heard.
    package mutating func brokerIsBack(at now: Duration) {
        (isBrokerAway, listening) = (false, now)
    }

    private mutating func fall(_ will: DeviceState, at now: Duration) -> Change {
        guard session == nil || session == will.session else { return .none }
        session = will.session
        guard standing == .online || standing == .unknown else { return .none }
        standing = .silent
        return .fell(since: heard ?? now)
    }

    private mutating func remember(_ state: DeviceState, _ report: DeviceState.Report) -> Change {
        guard standing == .unknown else { return .none }
        (session, self.report) = (state.session, report)
        return .none
    }

    private mutating func hear(_ state: DeviceState, _ report: DeviceState.Report, at now: Duration) -> Change {
        let (before, last, was) = (self.report, heard ?? listening ?? now, standing)
        let isSameSession = session == state.session
        (session, self.report, heard, standing) = (state.session, report, now, .online)
        if before == nil, was == .unknown { return .arrived }
        if isSameSession, was == .online || was == .unknown { return .none }
        return .returned(Absence(before: before, after: report, standing: was, since: last, until: now))
    }
}

/// A time in which nothing was heard of a machine, and what is known of it. Times are by the hub's clock, since 1970.
package struct DeviceGap: Hashable, Sendable {
    /// When it was last heard of.
    package let since: Duration
    /// When it was known to be away. It went between the two.
    package let noticed: Duration
    /// When it was heard of again; nil while it is away.
    package var until: Duration?
    package var evidence = SilenceEvidence()
    /// Whether the time for reports of the machine is over.
    package var isGivenUp = false

    package init(since: Duration, noticed: Duration) {
        (self.since, self.noticed) = (min(since, noticed), noticed)
    }

    /// Whether the absence is over and all facts are known, or it was planned.
    package var isOver: Bool {
        if evidence.planned || evidence.saidSleep { return true }
        return until != nil && (evidence.isToldWhole || isGivenUp)
    }

    /// Whether the machine is back and may still report the reason.
    package var isAwaited: Bool { until != nil && !evidence.isToldWhole && !isGivenUp }

    /// The maximum number of outages that are considered.
    private static let outageLimit = 256

    /// Takes a report of an outage that may explain the absence.
    ///
    /// - Parameter end: When that ended, by the hub's clock.
    package mutating func consider(_ outage: DeviceOutage, end: Duration?) {
        guard outage.attribution == .us || outage.attribution == .upstream else { return }
        if let end, end < since - FleetIncidentTracker.closeness { return }
        if let index = evidence.outages.firstIndex(where: { $0.id == outage.id }) {
            evidence.outages[index] = outage
        } else if evidence.outages.count < Self.outageLimit {
            evidence.outages.append(outage)
        }
    }
}

/// Why nothing was heard of a machine.
package enum SilenceVerdict: Hashable, Sendable {
    /// It said that it would go.
    case planned(reason: String?)
    /// It had lost the network itself, and knows why.
    case outage(DeviceOutage)
    /// It was off, or started again.
    case power
    /// It slept: no outage.
    case sleep
    /// The broker or the hub was away.
    case unobserved
    /// The machine had no fault, and others of its site were silent, too: their common uplink was away.
    case site
    /// It was well, and alone: the provider or the broker.
    case beyond
    /// Not yet known.
    case unexplained

    /// The word in JSON.
    package var word: String {
        switch self {
        case .planned: "planned"
        case .outage: "outage"
        case .power: "power"
        case .sleep: "sleep"
        case .unobserved: "unobserved"
        case .site: "site"
        case .beyond: "beyond"
        case .unexplained: "unexplained"
        }
    }

    /// The attribution; nil if there is no fault.
    package var attribution: Attribution? {
        switch self {
        case .planned, .sleep, .unobserved: nil
        case .outage(let outage): outage.attribution
        case .power: .us
        case .site, .beyond: .upstream
        case .unexplained: .unknown
        }
    }

    package var cause: OutageCause? {
        switch self {
        case .outage(let outage): outage.cause
        case .power: OutageCause(rawValue: "power")
        default: nil
        }
    }
}

/// What is known of a silence. The verdict is this table, its first row that fits:
///
/// | Evidence | Verdict |
/// |---|---|
/// | it said that it would go | planned |
/// | it said that it would sleep, and is not back | sleep |
/// | two machines use its name | unexplained |
/// | an outage of `us` or `upstream` covers a part of it, same boot | that outage, the longest |
/// | another boot | power |
/// | it said that it would sleep, or slept most of the time | sleep |
/// | the broker or the hub was away when it came back | unobserved |
/// | all was told, same boot, and others of the site fell within 30 s | site |
/// | all was told, same boot | beyond |
/// | nothing yet | unexplained |
package struct SilenceEvidence: Hashable, Sendable {
    package var planned = false
    package var reason: String?
    package var saidSleep = false
    /// Whether what came back may be another machine, under the name of this one.
    package var isDisputed = false
    /// The last report before the silence; nil if there was none.
    package var before: DeviceState.Report?
    /// The first report after the silence; nil while the machine is silent.
    package var after: DeviceState.Report?
    /// The reports of outages since.
    package var outages: [DeviceOutage] = []
    /// For how long it slept.
    package var slept: Duration = .zero
    /// Whether the hub or the broker was away.
    package var unobserved = false
    /// Whether the machine has sent all events.
    package var isToldWhole = false
    /// How many others of the site fell at about the same time.
    package var neighbours = 0

    package init() {}

    package var verdict: SilenceVerdict {
        if planned { return .planned(reason: reason) }
        guard let after else { return saidSleep ? .sleep : .unexplained }
        if isDisputed { return .unexplained }
        let isSameBoot = before.map { $0.boot == after.boot } ?? true
        if isSameBoot, let outage = covering(after) { return .outage(outage) }
        if !isSameBoot { return .power }
        if saidSleep || sleptMostly(after) { return .sleep }
        if unobserved { return .unobserved }
        guard isToldWhole else { return .unexplained }
        return neighbours > 0 ? .site : .beyond
    }

    /// Whether it slept for half of the time at least, or for all of it but what passes anyway between two reports, and until it has
    /// connected: it was last heard of some time before it fell asleep.
    private func sleptMostly(_ after: DeviceState.Report) -> Bool {
        guard slept > .zero, let before else { return slept > .zero }
        return after.bootTime - before.bootTime - slept <= max(slept, before.refresh + .seconds(60))
    }

    /// The longest outage within the silence. Both ends of the silence are seen by CLOCK_BOOTTIME, for wall clocks are set; outages are
    /// told by the wall clock, whose distance to it is known from the report that came first afterwards.
    private func covering(_ after: DeviceState.Report) -> DeviceOutage? {
        let distance = after.wall - after.bootTime
        let (start, end) = ((before?.bootTime ?? .zero) + distance, after.wall)
        let within = outages.filter {
            ($0.attribution == .us || $0.attribution == .upstream) && $0.start <= end && ($0.end ?? end) >= start
        }
        func length(_ outage: DeviceOutage) -> Duration { min(outage.end ?? end, end) - max(outage.start, start) }
        return within.max { length($0) < length($1) }
    }
}
