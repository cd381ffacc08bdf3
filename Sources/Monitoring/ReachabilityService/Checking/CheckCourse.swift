package import ReachabilityLedger

/// What the checks of one target come to, and when the next is due. A value: it is told what was found, and when.
///
/// A change that a check finds lies between the last check that found otherwise and the first that found it. Its moment is the end of
/// that first one, when it was known; how much earlier it may have been is its uncertainty. One good check makes a target up.
/// It takes several that fail, ``CheckSettings/confirm``, to make it down, and then it was since the first of them; as many to make a target
/// degraded that works.
///
/// If the kernel had no path, and the first check after the path returned is good, the target is up since the path returned. The check
/// may have waited for its turn.
///
/// What was found along one path says nothing of another: ``begin(at:returned:)`` makes it void.
package struct CheckCourse: Sendable {
    /// What the books are to take.
    package struct Change: Sendable {
        package let finding: CheckFinding
        package let instant: LedgerInstant
        package let uncertainty: Duration
    }

    /// Checks that do not find what is told, and are not enough yet.
    private struct Doubt {
        var finding: CheckFinding
        /// When the first ended.
        let first: LedgerInstant
        /// When the last one before began.
        let earliest: LedgerInstant
        var count = 0
    }

    private let settings: CheckSettings
    /// Where in an interval this target is checked, so that many are not at once.
    private let phase: Duration
    /// What holds; nil where nothing was found along this path.
    package private(set) var told: CheckFinding?
    /// Since when this path is there.
    private(set) var since: LedgerInstant
    /// How much earlier the path may have returned; nil unless there was no path before, and no check has ended since.
    private var returned: Duration?
    /// When the last check began that found what was told, along whatever path.
    private var agreed: LedgerInstant?
    /// The same of one that was not good.
    private var lastBad: LedgerInstant?
    private var doubt: Doubt?

    /// - Parameter name: of the target; each has a place of its own in the interval.
    package init(_ settings: CheckSettings, of name: String, at now: LedgerInstant) {
        self.settings = settings
        // FNV-1a, mixed: names that differ in their last letter alone are to be far from each other.
        var hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        hash = (hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15
        let interval = max(1, settings.interval.ledgerNanoseconds)
        phase = .nanoseconds(Int64(hash % UInt64(interval)))
        since = now
    }

    /// The path is there, or is another one: nothing is known of it.
    ///
    /// - Parameter uncertainty: How much earlier the path may have returned; nil unless there was no path before.
    package mutating func begin(at now: LedgerInstant, returned uncertainty: Duration? = nil) {
        (told, doubt) = (nil, nil)
        // A path that has returned may change before it is checked: an address comes after the other.
        returned = uncertainty ?? returned.map { $0 + max(.zero, now - since) }
        since = now
    }

    /// The path is gone.
    package mutating func end(at now: LedgerInstant) {
        (told, doubt, returned) = (nil, nil, nil)
        since = now
    }

    /// Takes what a check found.
    ///
    /// - Parameter isDown: whether an outage lasts: then the kernel, or a check, has said already that the target is not up.
    /// - Returns: what follows for the books; nil where nothing does yet.
    package mutating func take(
        _ finding: CheckFinding,
        from begun: LedgerInstant,
        to ended: LedgerInstant,
        isDown: Bool
    ) -> Change? {
        // One check of many may be slow by chance.
        if finding.isDegraded, let told, told.isGood, !told.isDegraded { return takeDoubt(finding, begun, ended) }
        defer { returned = nil }
        if finding.isGood {
            if isDown, let returned {
                (told, agreed, doubt) = (finding, begun, nil)
                return Change(finding: finding, instant: since, uncertainty: returned)
            }
            let earliest = max(since, lastBad ?? since)
            (told, agreed, doubt) = (finding, begun, nil)
            return Change(finding: finding, instant: ended, uncertainty: ended - min(earliest, ended))
        }
        lastBad = begun
        guard let told else {
            // It goes on, in another way, since the path is back.
            if isDown { return tell(finding, begun, Change(finding: finding, instant: since, uncertainty: .zero)) }
            return takeDoubt(finding, begun, ended)
        }
        if told.isSame(as: finding) {
            (self.told, agreed, doubt) = (finding, begun, nil)
            return nil
        }
        return takeDoubt(finding, begun, ended)
    }

    private mutating func takeDoubt(_ finding: CheckFinding, _ begun: LedgerInstant, _ ended: LedgerInstant) -> Change?
    {
        let isDown = told?.isGood == false
        var next = Doubt(finding: finding, first: ended, earliest: agreed ?? since)
        // While it is up all that fail count together; of what is told otherwise only those that say the same.
        if let doubt, doubt.finding.isGood == finding.isGood, !isDown || doubt.finding.isSame(as: finding) {
            next = doubt
        }
        next.finding = finding
        next.count += 1
        guard next.count >= settings.confirm else {
            doubt = next
            return nil
        }
        let uncertainty = next.first - min(next.earliest, next.first)
        return tell(finding, begun, Change(finding: finding, instant: next.first, uncertainty: uncertainty))
    }

    private mutating func tell(_ finding: CheckFinding, _ begun: LedgerInstant, _ change: Change) -> Change {
        (told, agreed, doubt) = (finding, begun, nil)
        return change
    }

    // MARK: Time

    /// From one check to the one that confirms it.
    private static let repetition = Duration.seconds(1)

    /// When the next check is to begin.
    ///
    /// - Parameters:
    ///   - begun: When the last one did.
    ///   - now: When it ended.
    package func next(after begun: LedgerInstant, now: LedgerInstant) -> LedgerInstant {
        if doubt != nil, told?.isGood ?? true { return max(now, begun + Self.repetition) }
        guard told?.isGood == true else { return max(now, begun + settings.intervalWhenDown) }
        // At the target's own place in the interval, so that those that came back together do not stay together.
        let earliest = begun + settings.interval / 2 - phase
        let past = earliest.remainder(of: settings.interval)
        let slot = past == .zero ? earliest : earliest + (settings.interval - past)
        return max(now, slot + phase)
    }
}
