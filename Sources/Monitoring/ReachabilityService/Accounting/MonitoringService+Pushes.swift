import LinuxSupport
import NetworkReachability
package import ReachabilityLedger

/// The settings of a target that sends pushes, such as a cron job or a device that cannot be reached.
package struct PushSettings: Hashable, Sendable {
    /// The time after a push at which the next one is expected.
    package let interval: Duration
    /// The time by which a push may be late.
    package var grace: Duration
    /// The file with the token of the pushes. If nil, only administrators may push.
    package var tokenFile: String?

    /// The maximum time between two pushes.
    package var limit: Duration { interval + grace }
}

/// A message of a target about itself.
package struct Push: Hashable, Sendable {
    package let instant: LedgerInstant
    /// A Boolean value that indicates whether the target reports that it works.
    package let isUp: Bool
    /// The text of the target, without control characters; nil for none.
    package let message: String?

    /// The maximum length of a text, in Unicode scalars.
    package static let messageLimit = 200

    /// - Parameter message: A text from outside. It is cut at ``messageLimit``, and control characters are escaped.
    package init(at instant: LedgerInstant, isUp: Bool, message: String?) {
        (self.instant, self.isUp) = (instant, isUp)
        let text = message.map { String($0.unicodeScalars.prefix(Self.messageLimit)) }
        self.message = text.flatMap { $0.isEmpty ? nil : $0.printable }
    }
}

/// The state of one target that follows from its pushes. A value type without clock.
///
/// | Last push | State |
/// |---|---|
/// | none | unknown |
/// | reports a failure | down since the push |
/// | less than interval and grace ago | up since the push |
/// | longer ago, observed without interruption | down since the end of the grace |
/// | longer ago, otherwise | unknown until interval and grace have passed since the interruption, then down |
///
/// An interruption is a time in which the service did not run, this machine slept, or a target `at-large` was unreachable through the fault of
/// this machine or of what lies between it and the internet.
package struct PushWatch: Sendable {
    /// The state that follows from the pushes at an instant.
    struct Verdict {
        var observation: Observation
        /// The beginning of the state.
        var instant: LedgerInstant
        /// The maximum time by which the state may have begun earlier.
        var uncertainty = Duration.zero
        /// The instant at which the state changes without another push; nil if it does not.
        var next: LedgerInstant?
    }

    package let settings: PushSettings
    package private(set) var last: Push?
    /// The instant since which pushes are received without interruption.
    private(set) var since: LedgerInstant
    /// The timer for the end of the grace.
    var timer: Cancellation?

    /// - Parameters:
    ///   - last: The last known push.
    ///   - isMissing: Whether an earlier run has observed that the next push is missing.
    init(_ settings: PushSettings, last: Push?, isMissing: Bool, since: LedgerInstant) {
        (self.settings, self.last) = (settings, last)
        self.since = isMissing ? last?.instant ?? since : since
    }

    /// The instant by which the next push is due; nil before the first push.
    package var due: LedgerInstant? { last.map { $0.instant + settings.limit } }

    mutating func take(_ push: Push) { last = push }

    /// Records that pushes may have been lost between two instants. A push that was missing before is still missing.
    mutating func interrupt(from start: LedgerInstant, to end: LedgerInstant) {
        if let last, max(last.instant, since) + settings.limit <= start { return }
        since = max(since, end)
    }

    func verdict(at now: LedgerInstant) -> Verdict {
        guard let last else {
            return Verdict(observation: Observation(path: .unknown(reason: "awaitingPush")), instant: now)
        }
        guard last.isUp else { return Verdict(observation: .push("reportsFailure"), instant: last.instant) }
        let (due, end) = (last.instant + settings.limit, max(last.instant, since) + settings.limit)
        if now < due { return Verdict(observation: .push(nil), instant: last.instant, next: due) }
        guard now >= end else {
            return Verdict(observation: Observation(path: .unknown(reason: "awaitingPush")), instant: due, next: end)
        }
        return Verdict(observation: .push("noPush"), instant: end, uncertainty: settings.grace)
    }
}

extension Observation {
    /// The observation of a target that sends pushes.
    ///
    /// - Parameter reason: The reason why it is down; nil if it is up.
    fileprivate static func push(_ reason: String?) -> Observation {
        Observation(path: .reachable, check: Check(place: reason == nil ? "works" : "push", reason: reason ?? "pushed"))
    }
}

extension MonitoringService {
    /// The result of a push.
    package enum PushResult: Sendable {
        case accepted
        /// The last push reported the same less than ``MonitoringService/pushPause`` ago.
        case tooSoon
        /// The target sends no pushes, or is unknown.
        case notExpected
    }

    /// The minimum time between two pushes of a target that report the same.
    package static let pushPause = Duration.seconds(1)

    /// Records a push of a target.
    package func push(_ name: String, isUp: Bool, message: String?) -> PushResult {
        var result = PushResult.notExpected
        record { state, now in
            guard let watch = state.pushes[name] else { return [] }
            if let last = watch.last, last.isUp == isUp, now >= last.instant, now - last.instant < Self.pushPause {
                result = .tooSoon
                return []
            }
            result = .accepted
            let push = Push(at: now, isUp: isUp, message: message)
            state.pushes[name]?.take(push)
            if state.pause(of: name) == nil, let check = state.pushes[name]?.verdict(at: now).observation.check {
                note(CheckFinding(check.place, check.reason, sentence: Self.sentence(push)), of: name, &state, at: now)
            }
            return [state.accounting.note(.pushed(push), of: name, now: now)]
        }
        if case .accepted = result { followPush(name) }
        return result
    }

    /// Updates the states of all targets that send pushes. Called after sleep, when pushes may have been missed.
    func followPushes() { for name in state.withLock(\.pushes).keys { followPush(name) } }

    /// Updates the state of a target from its last push and the current time, and schedules a timer for the next change.
    func followPush(_ name: String) {
        var delay: Duration?
        record { state, now in
            guard var watch = state.pushes[name], state.pause(of: name) == nil else { return [] }
            if let push = watch.last?.instant, let (start, end) = Self.disconnection(since: push, state, at: now) {
                watch.interrupt(from: start, to: end)
                state.pushes[name] = watch
            }
            let verdict = watch.verdict(at: now)
            delay = verdict.next.map { $0 - now }
            var events = state.accounting.take(
                verdict.observation,
                of: name,
                at: verdict.instant,
                uncertainty: verdict.uncertainty,
                now: now
            )
            guard let check = verdict.observation.check, check.place == "push", let last = watch.last else {
                return events
            }
            var sentence = Self.sentence(last)
            if last.isUp {
                sentence = "no push since \(Timestamp(real: calendar(state).wall(at: last.instant)).text)"
                if !events.isEmpty {
                    note(CheckFinding(check.place, check.reason, sentence: sentence), of: name, &state, at: now)
                }
            }
            let step = EvidenceRecord.Step(kind: "verdict", state: "broken", summary: "push: \(sentence)", remedy: nil)
            events += state.accounting.explain(name, verdict.observation, [step], now: now)
            return events
        }
        let timer = delay.map { delay in
            clock.monitor.schedule(after: delay, on: eventQueue) { [weak self] in self?.followPush(name) }
        }
        let previous = state.withLock { state in
            let previous = state.pushes[name]?.timer
            state.pushes[name]?.timer = timer
            return previous
        }
        previous?.cancel()
    }

    /// Returns the last time after an instant in which the network at large was unreachable, through the fault of this machine or of what lies
    /// between it and the internet.
    private static func disconnection(
        since instant: LedgerInstant,
        _ state: State,
        at now: LedgerInstant
    ) -> (start: LedgerInstant, end: LedgerInstant)? {
        var last: (start: LedgerInstant, end: LedgerInstant)?
        for target in state.targets.values where target.host == nil && target.push == nil {
            let account = state.accounting.accounts[target.name]
            for outage in [account?.outages.last, account?.ledger.outage].compactMap(\.self)
            where [.us, .upstream].contains(outage.deciding(at: now).state.attribution) {
                let end = outage.end ?? now
                if end > max(instant, last?.end ?? instant) { last = (outage.start, end) }
            }
        }
        return last
    }

    private func note(_ finding: CheckFinding, of name: String, _ state: inout State, at now: LedgerInstant) {
        var status = CheckStatus(finding: finding, begun: now, ended: now)
        checkLog.note(status, of: name)
        status.current = finding
        state.findings[name] = status
    }

    private static func sentence(_ push: Push) -> String {
        if push.isUp { return push.message ?? "push received" }
        return ["reports a failure", push.message].compactMap(\.self).joined(separator: ": ")
    }
}

extension PushSettings {
    /// Reads a table and collects its problems. The result is nil without an interval.
    init?(_ table: TableReader) {
        defer { table.finish() }
        let interval = table.duration("every", atLeast: .seconds(1))
        let grace = table.duration("grace", atLeast: .zero)
        for (key, duration) in [("every", interval), ("grace", grace)] {
            if let duration, duration > .seconds(366 * 86_400) { table.report(key, "must be at most 366d") }
        }
        let file = table.text("token-file")
        guard let interval else {
            if !table.has("every") { table.report("every", "missing; give the interval of the pushes, such as \"1h\"") }
            return nil
        }
        self.init(
            interval: interval,
            grace: grace ?? min(interval / 10 + .seconds(10), .seconds(3600)),
            tokenFile: file
        )
    }
}
