package import ReachabilityLedger

/// How moments are written: those of this boot of the machine, and of earlier ones.
package struct Calendar: Sendable {
    /// A boot, and the first moment of the ledger that is written as it says.
    package struct Era: Hashable, Sendable {
        package let start: LedgerInstant
        package let line: TimeLine

        package init(start: LedgerInstant, line: TimeLine) {
            (self.start, self.line) = (start, line)
        }
    }

    /// The oldest first.
    private let earlier: [Era]
    /// This boot.
    package let current: Era

    package init(earlier: [Era] = [], current: Era) {
        (self.earlier, self.current) = (earlier, current)
    }

    /// The boot a moment belongs to. What is before all of them counts as of the first.
    package func line(at instant: LedgerInstant) -> TimeLine {
        if instant >= current.start { return current.line }
        return (earlier.last { $0.start <= instant } ?? earlier.first ?? current).line
    }

    /// What the wall clock says at a moment, since 1970.
    package func wall(at instant: LedgerInstant) -> Duration { line(at: instant).wall(at: instant) }

    /// The first moment at which the wall clock says at least so much; where clocks were set back there may be several.
    package func instant(atWall wall: Duration) -> LedgerInstant {
        let eras = earlier + [current]
        for (era, next) in zip(eras, eras.dropFirst()) {
            let instant = era.line.instant(atWall: wall)
            if instant < next.start { return instant }
        }
        return max(
            current.line.instant(atWall: wall),
            eras.count > 1 ? current.start : LedgerInstant(nanoseconds: .min)
        )
    }
}
