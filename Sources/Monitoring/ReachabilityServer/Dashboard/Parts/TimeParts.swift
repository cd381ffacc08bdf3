import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// How moments and lengths are shown on a page that is made now. Scripts write moments anew in the time zone of the reader.
package struct PageClock: Sendable {
    /// What a moment is shown as.
    package enum MomentForm: String {
        /// To the second, with the day where it is another than now.
        case clock
        /// To the millisecond.
        case exact
    }

    /// By the wall clock, since 1970.
    package let now: Duration

    package init(now: Duration) {
        self.now = now
    }

    /// - Parameter wall: Since 1970.
    package func time(_ wall: Duration, _ form: MomentForm = .clock) -> HTML {
        let text = Timestamp(real: wall).text
        let today = Timestamp(real: now).text.prefix(10)
        let clock = text.dropFirst(11).prefix(form == .exact ? 12 : 8)
        let shown = text.hasPrefix(today) ? "\(clock) UTC" : "\(text.prefix(10)) \(clock) UTC"
        return "<time datetime=\"\(text)\" data-form=\"\(form.rawValue)\">\(shown)</time>"
    }

    /// How long something has lasted; it goes on.
    package func lasting(since wall: Duration) -> HTML {
        "<span class=\"n\" data-since=\"\(Timestamp(real: wall).text)\">\((now - wall).wholeUnits)</span>"
    }
}

extension MonitoringService.Snapshot {
    var clock: PageClock { PageClock(now: calendar.wall(at: now)) }

    func time(_ instant: LedgerInstant, _ form: PageClock.MomentForm = .clock) -> HTML {
        clock.time(calendar.wall(at: instant), form)
    }

    func lasting(since instant: LedgerInstant) -> HTML { clock.lasting(since: calendar.wall(at: instant)) }
}

extension Duration {
    /// In whole seconds, the largest unit and the one below it: `3 d 4 h`, `12 min 5 s`, `0 s`. Scripts count on in the same way.
    package var wholeUnits: String {
        var rest = max(.zero, self).nanoseconds / 1_000_000_000
        var parts: [String] = []
        for (unit, name) in [(Int64(86400), "d"), (3600, "h"), (60, "min"), (1, "s")] {
            let isSecond = !parts.isEmpty
            if rest >= unit || (unit == 1 && !isSecond) { parts.append("\(rest / unit)\u{a0}\(name)") }
            rest %= unit
            if isSecond { break }
        }
        return parts.joined(separator: " ")
    }

    /// As ``people`` has it, with spaces: `47 ms`, `4.001 s`, `12 min 5 s`.
    package var units: String {
        parts.map { "\($0.number)\u{a0}\($0.unit == "m" ? "min" : $0.unit)" }.joined(separator: " ")
    }
}
