import LinuxPrimitives
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The days of a target from the beginning of one until now, those included of which only the sums are kept.
    func days(
        of target: String,
        from start: LedgerInstant,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [DayCalendar.Day] {
        let from = start - SettledDay.length / 2
        let known = try times(of: target, from: from, to: snapshot.now, exactUpTo: KnownTimes.intervalLimit, snapshot)
        return DayCalendar.days(from: start, known.intervals, settled: known.days, snapshot)
    }
}

/// How the days of a target were, those of the last year one beside the other: a week a column, as calendars have it. Days are those of UTC.
struct DayCalendar {
    /// A day, as far as it is over.
    struct Day {
        /// `2026-11-25`.
        let name: String
        let availability: Availability

        /// Who lost most of it; `up` where nobody did, and `unknown` where nobody observed.
        var account: LedgerAccount {
            let lost = [LedgerAccount.us, .upstream, .them].filter { availability.duration($0) > .zero }
            if let worst = lost.max(by: { availability.duration($0) < availability.duration($1) }) { return worst }
            if availability.duration(.up) > .zero { return .up }
            return availability.duration(.maintenance) > .zero ? .maintenance : .unknown
        }
    }

    static let weeks = 53

    /// When the first of them begins: on a Monday.
    static func start(_ snapshot: MonitoringService.Snapshot) -> LedgerInstant {
        let today = number(of: snapshot.now, snapshot)
        // The first day of 1970 was a Thursday.
        let monday = (today + 3).floored(by: 7) * 7 - 3
        return snapshot.calendar.instant(atWall: .seconds((monday - Int64(weeks - 1) * 7) * 86400))
    }

    /// The days from a moment until now.
    ///
    /// - Parameters:
    ///   - intervals: The earliest first.
    ///   - settled: Days of which only the sums are kept.
    static func days(
        from start: LedgerInstant,
        _ intervals: [LedgerInterval],
        settled: [SettledDay] = [],
        _ snapshot: MonitoringService.Snapshot
    ) -> [Day] {
        // A wall clock that drifts lets the days of the time line begin a little before or after those of UTC.
        let sums = Dictionary(grouping: settled) { Self.number(of: $0.start + SettledDay.length / 2, snapshot) }
        var days: [Day] = []
        var rest = intervals[...]
        let first = number(of: start, snapshot)
        var from = start
        // A clock that was wrong by years makes no more days than there is room for.
        for number in first..<first + Int64(weeks * 7) where from < snapshot.now {
            let to = min(snapshot.calendar.instant(atWall: .seconds((number + 1) * 86400)), snapshot.now)
            rest = rest.drop { $0.end.map { $0 <= from } ?? false }
            let inside = rest.prefix { $0.start < to }
            let name = Timestamp(real: .seconds(number * 86400)).text.prefix(10)
            var availability = Availability(of: inside, from: from, to: to)
            availability.add(sums[number] ?? [])
            days.append(Day(name: String(name), availability: availability))
            from = max(to, from)
        }
        return days
    }

    /// Which day of UTC a moment is in, counted from the first of 1970.
    static func number(of instant: LedgerInstant, _ snapshot: MonitoringService.Snapshot) -> Int64 {
        snapshot.calendar.wall(at: instant).components.seconds.floored(by: 86400)
    }

    /// - Parameter days: From a Monday on.
    static func svg(_ days: [Day], of target: String) -> HTML {
        let cells = days.enumerated().map { index, day -> HTML? in
            let account = day.account
            if account == .unknown { return nil }
            let place: HTML = "x=\"\(index / 7 * 13)\" y=\"\(index % 7 * 13)\""
            // Most days are good, and there are many of them.
            if account == .up { return "<rect class=\"s-up\" \(place)/>" }
            let label = TimeBar.label(day.name, day.availability)
            return "<rect fill=\"url(#p-\(account.rawValue))\" \(place)><title>\(label)</title></rect>"
        }
        let bad = days.count { [.us, .upstream, .them].contains($0.account) }
        let label = "\(target): \(bad) of \(days.count { $0.account != .unknown }) days observed had an outage"
        return """
            <svg class="days" viewBox="0 0 \(weeks * 13) 91" role="img" aria-label="\(label)">\
            <rect class="all" fill="url(#p-day)"/>\(cells.compactMap(\.self))</svg>
            """
    }
}
