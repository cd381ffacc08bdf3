import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The days of a target from the beginning of one until now, those included of which only the sums are kept.
    ///
    /// - Parameter limit: The maximum number of intervals that are read one by one, not as sums of days.
    func days(
        of target: String,
        from start: LedgerInstant,
        exactUpTo limit: Int = 400,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [DayCalendar.Day] {
        let from = start - SettledDay.length / 2
        let known = try times(of: target, from: from, to: snapshot.now, exactUpTo: limit, snapshot)
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

    /// Returns a picture of days.
    ///
    /// - Parameters:
    ///   - days: The days, from a Monday on.
    ///   - isDetailed: Whether each day with an outage has a text of its own, which takes much more space.
    static func svg(_ days: [Day], of target: String, isDetailed: Bool) -> HTML {
        let accounts = days.map(\.account)
        let paths = LedgerAccount.allCases.map { account -> HTML in
            if account == .unknown || isDetailed && account != .up { return "" }
            let path = path(of: account, accounts)
            return path.isEmpty ? "" : "<path fill=\"url(#d-\(account.rawValue))\" d=\"\(path)\"/>"
        }
        let cells = zip(days, accounts).enumerated().map { index, day -> HTML? in
            if !isDetailed || day.1 == .unknown || day.1 == .up { return nil }
            let label = TimeBar.label(day.0.name, day.0.availability)
            let place: HTML = "x=\"\(index / 7 * cell)\" y=\"\(index % 7 * cell)\""
            return "<rect fill=\"url(#p-\(day.1.rawValue))\" \(place)><title>\(label)</title></rect>"
        }
        let bad = accounts.count { [.us, .upstream, .them].contains($0) }
        let label = "\(target): \(bad) of \(accounts.count { $0 != .unknown }) days observed had an outage"
        return """
            <svg class="days" viewBox="0 0 \(weeks * cell) \(7 * cell)" role="img" aria-label="\(label)">\
            <rect class="all" fill="url(#p-day)"/>\(paths)\(cells.compactMap(\.self))</svg>
            """
    }

    /// The side of a day with the space around it.
    private static let cell = 13

    /// Returns a rectangle for each run of days of an account in a week, each relative to the one before, because repetitions can be
    /// compressed. The fill draws the days.
    private static func path(of account: LedgerAccount, _ accounts: [LedgerAccount]) -> String {
        var (path, x, y) = ("", 0, 0)
        var index = 0
        while index < accounts.count {
            guard accounts[index] == account else {
                index += 1
                continue
            }
            let first = index
            repeat { index += 1 } while index < accounts.count && index % 7 != 0 && accounts[index] == account
            let (left, top, height) = (first / 7 * cell, first % 7 * cell, (index - first) * cell)
            path += "m\(left - x) \(top - y)h\(cell)v\(height)h-\(cell)z"
            (x, y) = (left, top)
        }
        return path
    }
}
