import LinuxSupport
package import ReachabilityLedger

/// The state of one target that follows from the results of its checks, and the schedule of the next check.
///
/// A value type without clock or I/O.
///
/// | change | required checks | instant of the change |
/// |---|---|---|
/// | to up | one that succeeds | its end |
/// | to up, after the kernel had no path | the first one, if it succeeds | the return of the path |
/// | to down | ``CheckSettings/confirm`` consecutive ones that fail | the end of the first of them |
/// | from up to degraded | ``CheckSettings/confirm`` consecutive ones that are degraded | the end of the first of them |
/// | from down to unknown | inconclusive ones for a minute | the return of the path, or the end of the first of them |
/// | to degraded by a threshold, and back | one | its end |
///
/// The real change lies between the last check with the old result and the first one with the new result. The uncertainty is the time by
/// which it may be earlier than the recorded instant.
///
/// Results are valid for one path only. ``begin(at:returned:)`` discards them.
package struct TargetSchedule: Sendable {
    /// A change of the state that has to be recorded.
    package struct Change: Sendable {
        package let finding: CheckFinding
        /// The recorded instant of the change.
        package let instant: LedgerInstant
        /// The maximum time by which the change may be earlier than the instant.
        package let uncertainty: Duration
    }

    /// Consecutive checks that contradict the current state but are not yet enough to change it.
    private struct Contradiction {
        var finding: CheckFinding
        /// The end of the first of these checks.
        let first: LedgerInstant
        /// The start of the last check before them.
        let earliest: LedgerInstant
        var count = 0
    }

    private let settings: CheckSettings
    /// The offset of the checks of this target in the interval. It differs between targets, to spread the checks.
    private let phase: Duration
    /// The result that determines the current state; nil before the first decisive check along this path.
    package private(set) var current: CheckFinding?
    /// The time since which this path exists, or since which there is no path.
    private(set) var since: LedgerInstant
    /// The uncertainty of the return of the path. Nil if there was a path before, or if a check has ended since the return.
    private var returned: Duration?
    /// The start of the last check that confirmed the state, along any path.
    private var agreed: LedgerInstant?
    /// The start of the last check that failed, along any path.
    private var lastBad: LedgerInstant?
    private var contradiction: Contradiction?

    /// - Parameter name: The name of the target, which determines its offset in the interval.
    package init(_ settings: CheckSettings, of name: String, at now: LedgerInstant) {
        self.settings = settings
        // The hash is mixed, so that names that differ only in the last letter get distant offsets.
        var hash = name.utf8.contentHash
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        let interval = max(1, settings.interval.ledgerNanoseconds)
        phase = .nanoseconds(Int64(hash % UInt64(interval)))
        since = now
    }

    /// Discards all results, because there is a new path.
    ///
    /// - Parameter uncertainty: The maximum time by which the path may have returned earlier. Nil if there was a path before.
    package mutating func begin(at now: LedgerInstant, returned uncertainty: Duration? = nil) {
        (current, contradiction) = (nil, nil)
        // A path that has returned may change before it is checked, because addresses are added one after the other.
        returned = uncertainty ?? returned.map { $0 + max(.zero, now - since) }
        since = now
    }

    /// Discards all results, because there is no path.
    package mutating func end(at now: LedgerInstant) {
        (current, contradiction, returned) = (nil, nil, nil)
        since = now
    }

    /// Processes the result of a check.
    ///
    /// - Parameter isDown: True if the target is in an outage, which the kernel's answer or an earlier check has shown.
    /// - Returns: The change to record; nil if the state does not change.
    package mutating func take(
        _ finding: CheckFinding,
        from begun: LedgerInstant,
        to ended: LedgerInstant,
        isDown: Bool
    ) -> Change? {
        // A single check can be slow by chance, so that degraded needs confirmation like a failure.
        let isMeasured = !isDown && (finding.isMeasured || current?.isMeasured == true && finding.isGood)
        if finding.isDegraded, !isMeasured, let current, current.isGood, !current.isDegraded {
            return addContradiction(finding, begun, ended)
        }
        defer { returned = nil }
        if isDown, finding.isInconclusive { return takeInconclusive(finding, begun, ended) }
        if finding.isGood {
            if isDown, let returned {
                (current, agreed, contradiction) = (finding, begun, nil)
                return Change(finding: finding, instant: since, uncertainty: returned)
            }
            let earliest = max(since, lastBad ?? since)
            (current, agreed, contradiction) = (finding, begun, nil)
            return Change(
                finding: finding,
                instant: ended,
                uncertainty: isMeasured ? .zero : ended - min(earliest, ended)
            )
        }
        lastBad = begun
        guard let current else {
            // The outage continues, with another cause since the path returned.
            if isDown { return settle(finding, begun, Change(finding: finding, instant: since, uncertainty: .zero)) }
            return addContradiction(finding, begun, ended)
        }
        if current.isSame(as: finding) {
            (self.current, agreed, contradiction) = (finding, begun, nil)
            return nil
        }
        return addContradiction(finding, begun, ended)
    }

    /// Processes an inconclusive check during an outage. The outage continues for a minute, so that its end lies between the last check
    /// that failed, or the return of the path, and the first check that succeeds.
    private mutating func takeInconclusive(
        _ finding: CheckFinding,
        _ begun: LedgerInstant,
        _ ended: LedgerInstant
    ) -> Change? {
        let isNewPath = current == nil
        let change = addContradiction(finding, begun, ended, lasting: .seconds(60))
        return isNewPath ? change.map { Change(finding: $0.finding, instant: since, uncertainty: .zero) } : change
    }

    /// - Parameter length: The minimum time from the first contradicting check to the last one.
    private mutating func addContradiction(
        _ finding: CheckFinding,
        _ begun: LedgerInstant,
        _ ended: LedgerInstant,
        lasting length: Duration = .zero
    ) -> Change? {
        let isDown = current?.isGood == false
        var next = Contradiction(finding: finding, first: ended, earliest: agreed ?? since)
        // While the target is up, all failing checks count together. While it is down, only checks with the same result do.
        if let contradiction, contradiction.finding.isGood == finding.isGood,
            !isDown || contradiction.finding.confirms(finding)
        {
            next = contradiction
        }
        next.finding = finding
        next.count += 1
        guard next.count >= settings.confirm, ended - next.first >= length else {
            contradiction = next
            return nil
        }
        let uncertainty = next.first - min(next.earliest, next.first)
        return settle(finding, begun, Change(finding: finding, instant: next.first, uncertainty: uncertainty))
    }

    private mutating func settle(_ finding: CheckFinding, _ begun: LedgerInstant, _ change: Change) -> Change {
        (current, agreed, contradiction) = (finding, begun, nil)
        return change
    }

    // MARK: Time

    /// The interval from the start of a contradicting check to the check that confirms it.
    private static let repetition = Duration.seconds(1)

    /// Returns the start of the next check.
    ///
    /// - Parameters:
    ///   - begun: The start of the last check.
    ///   - now: The end of the last check.
    package func next(after begun: LedgerInstant, now: LedgerInstant) -> LedgerInstant {
        let isRateLimited = (contradiction?.finding ?? current)?.isRateLimited == true
        if let contradiction, contradiction.count < settings.confirm, current?.isGood ?? true, !isRateLimited {
            return max(now, begun + Self.repetition)
        }
        guard current?.isGood == true || isRateLimited else { return max(now, begun + settings.intervalWhenDown) }
        // The check is placed at the offset of the target, so that targets that recovered together are not checked together forever.
        let earliest = begun + settings.interval / 2 - phase
        let past = earliest.remainder(of: settings.interval)
        let slot = past == .zero ? earliest : earliest + (settings.interval - past)
        return max(now, slot + phase)
    }
}
