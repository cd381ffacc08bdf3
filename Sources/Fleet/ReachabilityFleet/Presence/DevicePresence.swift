package import ReachabilityLedger

/// The presence of a machine, from its messages and its will. A value without a clock.
///
/// Two kinds of messages do not count. A will of an older session is ignored, because a broker may notice the end of a
/// connection only after the machine has connected again. A retained state never makes a machine online, because the
/// broker may have retained it from before a restart. Only a state that the machine sends now does.
package struct DevicePresence: Hashable, Sendable {
    package enum Standing: String, Sendable, CaseIterable {
        case online
        /// The machine has sent nothing for too long, without an announcement.
        case silent
        /// The presence is not known. The hub or the broker has just started, or the broker is not connected.
        case unknown
        case sleeping, leaving
    }

    /// The effect of a message on the presence.
    package enum Change: Hashable, Sendable {
        case none
        /// The machine is silent since this time.
        case becameSilent(since: Duration)
        /// The machine is online after an absence that needs an explanation.
        case returned(Absence)
        /// The machine is online for the first time.
        case arrived
        /// The machine announced its absence.
        case left
    }

    /// The time between the last message before an absence and the first one after it.
    package struct Absence: Hashable, Sendable {
        /// The last report before the absence; nil if only the will of the machine was ever received.
        package let before: DeviceState.Report?
        package let after: DeviceState.Report
        /// The standing during the absence; ``DevicePresence/Standing/online`` if the absence was not noticed.
        package let standing: Standing
        /// The time of the last message before the absence, by the hub's clock.
        package let since: Duration
        /// The time of the first message after the absence, by the hub's clock.
        package let until: Duration
    }

    /// The number of expected reports that may be missed before the machine counts as silent.
    package static let missedReports = 3

    package private(set) var standing = Standing.unknown
    /// The identifier of the newest known session.
    package private(set) var session: String?
    package private(set) var report: DeviceState.Report?
    /// The time of the last message, by the hub's clock; nil if only retained messages arrived.
    package private(set) var lastMessage: Duration?
    /// The time from which messages of the machine were expected: its first message, including retained ones, or the
    /// last reconnection of the broker.
    private var listening: Duration?
    /// True if the hub is not connected to the broker.
    private var isBrokerAway = false

    package init() {}

    /// Creates a presence that was read from the store.
    package init(standing: Standing, session: String?, report: DeviceState.Report?, lastMessage: Duration?) {
        (self.standing, self.session, self.report, self.lastMessage) = (standing, session, report, lastMessage)
    }

    /// The time at which the machine counts as silent if no message arrives; nil if that cannot happen.
    package var deadline: Duration? {
        guard standing == .online || standing == .unknown, !isBrokerAway, let report,
            let since = [lastMessage, listening].compactMap(\.self).max()
        else { return nil }
        return since + report.refresh * Self.missedReports
    }

    /// Takes a state message, and returns its effect.
    ///
    /// - Parameters:
    ///   - isRetained: True if the message was retained by the broker.
    ///   - now: The time by the hub's clock.
    package mutating func take(_ state: DeviceState, isRetained: Bool, at now: Duration) -> Change {
        listening = listening ?? now
        guard let report = state.report else { return becomeSilent(state, at: now) }
        if state.standing == .online {
            return isRetained ? remember(state, report) : update(state, report, at: now)
        }
        guard session == nil || session == state.session else { return .none }
        (session, self.report) = (state.session, report)
        if !isRetained { lastMessage = now }
        standing = state.standing == .sleeping ? .sleeping : .leaving
        return .left
    }

    /// Advances the time.
    package mutating func pass(to now: Duration) -> Change {
        guard let deadline, now >= deadline else { return .none }
        let since = lastMessage ?? listening ?? now
        standing = .silent
        return .becameSilent(since: since)
    }

    /// Records that the connection to the broker has ended. The presence is unknown until the next message.
    package mutating func brokerDisconnected() {
        if standing == .online { standing = .unknown }
        isBrokerAway = true
    }

    /// Records that the broker is connected again. The timeout of the machine starts again.
    package mutating func brokerConnected(at now: Duration) {
        (isBrokerAway, listening) = (false, now)
    }

    private mutating func becomeSilent(_ will: DeviceState, at now: Duration) -> Change {
        guard session == nil || session == will.session else { return .none }
        session = will.session
        guard standing == .online || standing == .unknown else { return .none }
        standing = .silent
        return .becameSilent(since: lastMessage ?? now)
    }

    private mutating func remember(_ state: DeviceState, _ report: DeviceState.Report) -> Change {
        guard standing == .unknown else { return .none }
        (session, self.report) = (state.session, report)
        return .none
    }

    private mutating func update(_ state: DeviceState, _ report: DeviceState.Report, at now: Duration) -> Change {
        let (before, last, was) = (self.report, lastMessage ?? listening ?? now, standing)
        let isSameSession = session == state.session
        (session, self.report, lastMessage, standing) = (state.session, report, now, .online)
        if before == nil, was == .unknown { return .arrived }
        if isSameSession, was == .online || was == .unknown { return .none }
        return .returned(Absence(before: before, after: report, standing: was, since: last, until: now))
    }
}

/// An absence of a machine, and the facts about it. Times are by the hub's clock, since 1970.
package struct DeviceAbsence: Hashable, Sendable {
    /// The time of the last message before the absence.
    package let since: Duration
    /// The time at which the absence was noticed. The absence began between the two times.
    package let noticed: Duration
    /// The time of the first message after the absence; nil while the machine is absent.
    package var until: Duration?
    package var evidence = SilenceEvidence()
    /// True if the time for late reports of the machine has passed.
    package var isGivenUp = false

    package init(since: Duration, noticed: Duration) {
        (self.since, self.noticed) = (min(since, noticed), noticed)
    }

    /// True if the absence has ended and all facts are known, or the absence was announced.
    package var isOver: Bool {
        if evidence.planned || evidence.announcedSleep { return true }
        return until != nil && (evidence.hasAllEvents || isGivenUp)
    }

    /// True if the machine is back and may still report the reason.
    package var isAwaited: Bool { until != nil && !evidence.hasAllEvents && !isGivenUp }

    /// The maximum number of outages that are considered.
    private static let outageLimit = 256

    /// Adds a report of an outage that may explain the absence.
    ///
    /// - Parameter end: The end of the outage, by the hub's clock; nil while it lasts.
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

/// The reason of an absence of a machine.
package enum SilenceVerdict: Hashable, Sendable {
    /// The machine announced its absence.
    case planned(reason: String?)
    /// The machine lost the network and reported the outage.
    case outage(DeviceOutage)
    /// The machine was off or has restarted.
    case power
    /// The machine slept. There was no outage.
    case sleep
    /// The broker or the hub was not running or not connected.
    case unobserved
    /// The machine had no fault, and other machines of its site were silent too. The common uplink had failed.
    case site
    /// The machine had no fault, and no other machine of its site was silent. The fault was at the provider or the
    /// broker.
    case beyond
    /// The reason is not known yet.
    case unexplained

    /// The value in JSON.
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

/// The facts about an absence. The first row that applies gives the verdict:
///
/// | Evidence | Verdict |
/// |---|---|
/// | The machine announced its end. | planned |
/// | The machine announced sleep, and is not back. | sleep |
/// | Two machines use its name. | unexplained |
/// | An outage of `us` or `upstream` overlaps the absence, and the boot is the same. | that outage, the longest one |
/// | The boot is another. | power |
/// | The machine announced sleep, or slept most of the time. | sleep |
/// | The broker or the hub was away when the machine came back. | unobserved |
/// | All events were sent, the boot is the same, and other machines of the site became silent within 30 s. | site |
/// | All events were sent, and the boot is the same. | beyond |
/// | None of these. | unexplained |
package struct SilenceEvidence: Hashable, Sendable {
    package var planned = false
    package var reason: String?
    package var announcedSleep = false
    /// True if the machine that came back may be another one with the same name.
    package var isDisputed = false
    /// The last report before the absence; nil if there was none.
    package var before: DeviceState.Report?
    /// The first report after the absence; nil while the machine is absent.
    package var after: DeviceState.Report?
    /// The outages that the machine has reported since.
    package var outages: [DeviceOutage] = []
    /// The time that the machine slept during the absence.
    package var slept: Duration = .zero
    /// True if the hub or the broker was away.
    package var unobserved = false
    /// True if the machine has sent all events.
    package var hasAllEvents = false
    /// The number of other machines of the site that became silent at about the same time.
    package var neighbours = 0

    package init() {}

    /// The verdict, by the table of the type.
    package var verdict: SilenceVerdict {
        if planned { return .planned(reason: reason) }
        guard let after else { return announcedSleep ? .sleep : .unexplained }
        if isDisputed { return .unexplained }
        let isSameBoot = before.map { $0.boot == after.boot } ?? true
        if isSameBoot, let outage = covering(after) { return .outage(outage) }
        if !isSameBoot { return .power }
        if announcedSleep || sleptMostly(after) { return .sleep }
        if unobserved { return .unobserved }
        guard hasAllEvents else { return .unexplained }
        return neighbours > 0 ? .site : .beyond
    }

    /// True if the machine slept for at least half of the absence, or for all of it except the time that passes between
    /// two reports and until the machine has connected. The last message before the sleep may be older than the sleep
    /// by that time.
    private func sleptMostly(_ after: DeviceState.Report) -> Bool {
        guard slept > .zero, let before else { return slept > .zero }
        return after.bootTime - before.bootTime - slept <= max(slept, before.refresh + .seconds(60))
    }

    /// Returns the longest outage within the absence. Both ends of the absence are by CLOCK_BOOTTIME, because wall
    /// clocks may be set. Outages are reported by the wall clock. The first report after the absence contains both
    /// clocks, and so their difference.
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
