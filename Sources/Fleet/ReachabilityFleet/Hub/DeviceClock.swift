/// What a machine's times are by the hub's clock. Its own may be wrong by years, and may be set; what it says of times is only good for
/// how far they are apart.
///
/// A message may have been on its way for long, for brokers and machines keep what they cannot send. So of all that was said since its
/// clock was set, that counts which came the soonest.
package struct DeviceClock: Hashable, Sendable {
    /// No message is on its way for longer: then the clock was set back.
    static let longestWay: Duration = .seconds(7 * 86400)
    /// By so much clocks run apart between two reports.
    static let drift: Duration = .seconds(2)

    /// How far the hub's clock is ahead of the machine's; nil where nothing was said yet.
    package private(set) var offset: Duration?
    private var session: String?
    /// How far the machine's wall clock is ahead of its CLOCK_BOOTTIME.
    private var base: Duration?

    package init() {}

    package init(offset: Duration?) {
        self.offset = offset
    }

    /// A report says what both clocks of the machine are.
    package mutating func hear(_ report: DeviceState.Report, _ session: String, at now: Duration) {
        let base = report.wall - report.bootTime
        let wasSet = self.base.map { abs($0 - base) > Self.drift } ?? true
        if wasSet || self.session != session { offset = nil }
        (self.base, self.session) = (base, session)
        hear(report.wall, at: now)
    }

    /// A message says what its wall clock was when it was sent.
    package mutating func hear(_ wall: Duration, at now: Duration) {
        let candidate = now - wall
        guard let offset, candidate >= offset, candidate - offset <= Self.longestWay else {
            offset = candidate
            return
        }
    }

    /// A time of the machine by the hub's clock, from 1970 until now: a machine may report any time, and no event is in the future.
    package func time(_ wall: Duration, at now: Duration) -> Duration {
        max(.zero, min(wall + (offset ?? .zero), now))
    }

    private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
