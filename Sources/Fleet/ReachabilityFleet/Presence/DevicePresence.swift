/// Whether a machine is there, by what it and the broker say. A value that knows no clock.
///
/// The broker is not believed in two cases. A will counts only if its session is the newest known: who connects again before the broker
/// has noticed the end of the old connection is told offline afterwards. And what it kept over a restart says "online" for machines that
/// are gone, so a retained report makes nobody online; only a word that is sent now does.
package struct DevicePresence: Hashable, Sendable {
    package enum Standing: String, Sendable, CaseIterable {
        case online
        /// Gone without a word.
        case silent
        /// Nothing is known now: the hub or the broker has just started, or the broker is away.
        case unknown
        case sleeping, leaving
    }

    /// What became of it with a message.
    package enum Change: Hashable, Sendable {
        case none
        /// It went without a word; since when nothing was heard of it.
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
        /// How it was meanwhile; ``DevicePresence/Standing/online`` where nobody had noticed.
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

    /// So many reports may be missed.
    package static let missedReports = 3

    package private(set) var standing = Standing.unknown
    /// The newest known.
    package private(set) var session: String?
    package private(set) var report: DeviceState.Report?
    /// When it was last heard of, by the hub's clock; nil where only a retained message told of it.
    package private(set) var heard: Duration?
    /// Since when it could be heard: when the first message of it came, retained ones too, or when the broker came back, which was away.
    private var listening: Duration?
    /// Whether the broker is away, so that nobody can be heard.
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
    ///   - isRetained: Whether the broker had kept it from before the hub asked.
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

    /// Time goes by.
    package mutating func pass(to now: Duration) -> Change {
        guard let deadline, now >= deadline else { return .none }
        let since = heard ?? listening ?? now
        standing = .silent
        return .fell(since: since)
    }

    /// The broker was away: what it says of before is not to be believed.
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
