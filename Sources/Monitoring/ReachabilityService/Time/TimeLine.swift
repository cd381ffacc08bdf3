package import ReachabilityLedger

/// How the clocks of one boot of the machine stand to the time line of the ledger, and to what people read.
package struct TimeLine: Hashable, Sendable {
    /// Which boot it is.
    package let bootIdentifier: String
    /// The ledger's time at CLOCK_BOOTTIME zero, in nanoseconds. It never changes while the boot lasts.
    package let offset: Int64
    /// What the wall clock says beyond the ledger's time, in nanoseconds. A step of the wall clock changes it, and with it how all
    /// moments of this boot are written: the later clock is the one that was set on purpose.
    package private(set) var labelOffset: Int64

    /// The time line of a boot that is seen for the first time.
    ///
    /// - Parameters:
    ///   - boot: CLOCK_BOOTTIME now.
    ///   - real: CLOCK_REALTIME now.
    ///   - last: The last moment that was written down in an earlier boot. Time goes on from there where the wall clock says less.
    ///
    /// A wall clock beyond ``latestStart`` starts the line there, so that it has room to run. Labels still show the wall clock.
    package init(bootIdentifier: String, boot: Duration, real: Duration, after last: LedgerInstant? = nil) {
        let start = LedgerInstant(since1970: min(max(real, .zero), Self.latestStart))
        let now = max(start, last ?? start)
        self.init(
            bootIdentifier: bootIdentifier,
            offset: (now - boot).nanoseconds,
            labelOffset: (real - .nanoseconds(now.nanoseconds)).ledgerNanoseconds
        )
    }

    /// The latest time at which a line starts by the wall clock: the beginning of the year 2200, 62 years before its end.
    private static let latestStart: Duration = .seconds(7_258_118_400)

    /// That of a boot that was seen before.
    package init(bootIdentifier: String, offset: Int64, labelOffset: Int64) {
        self.bootIdentifier = bootIdentifier
        self.offset = offset
        self.labelOffset = labelOffset
    }

    /// The moment at which CLOCK_BOOTTIME says so much.
    package func instant(at boot: Duration) -> LedgerInstant {
        LedgerInstant(nanoseconds: offset) + boot
    }

    /// What the wall clock says at a moment, since 1970.
    package func wall(at instant: LedgerInstant) -> Duration {
        .nanoseconds(instant.nanoseconds) + .nanoseconds(labelOffset)
    }

    /// The moment at which the wall clock says so much.
    package func instant(atWall wall: Duration) -> LedgerInstant {
        LedgerInstant(since1970: wall - .nanoseconds(labelOffset))
    }

    /// Less than this is drift, which the labels follow without a word.
    package static let shortestStep: Duration = .milliseconds(500)

    /// Lets the labels agree with the wall clock.
    ///
    /// - Returns: How far the clock was set, where that is more than drift.
    package mutating func adjust(boot: Duration, real: Duration) -> Duration? {
        let label = (real - .nanoseconds(instant(at: boot).nanoseconds)).ledgerNanoseconds
        let step = Duration.nanoseconds(label) - .nanoseconds(labelOffset)
        labelOffset = label
        return abs(step) >= Self.shortestStep ? step : nil
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
