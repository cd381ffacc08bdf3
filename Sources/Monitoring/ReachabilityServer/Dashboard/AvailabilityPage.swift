import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns the page with the availability of each target: times, and percentages with their bounds.
    func availabilityPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let times = KnownTimes(self, snapshot, of: snapshot.accounting.accounts.count)
        let window = try BarWindow(query, snapshot, since: service.start)
        let items = snapshot.accounting.targets.map { name in
            (name: name, value: times.times(of: name, in: window).availability)
        }
        let worst = items.compactMap(\.value.availability).min()
        let sentence =
            worst.map { $0 == 1 ? "Nothing was lost" : "At least \($0.shortPercent) %" } ?? "Nothing was observed"
        let account = worst == nil ? .unknown : worst == 1 ? .up : Self.costliest(items.map(\.value))
        let hero = PageParts.hero(
            mark: account.rawValue,
            "\(sentence).",
            when: "Of the time observed in the last \(window.choice.name).",
            lead: "Time without observation does not count as up. It only widens the bounds."
        )
        let rows = items.map { Self.row($0.name, $0.value) }
        let table = PageParts.card(
            "seconds",
            "Totals",
            Self.table(items),
            class: "card scroll",
            attributes: " tabindex=\"0\""
        )
        let days = snapshot.accounting.targets.map { Self.calendar($0, times, snapshot) }
        let dayHeading: HTML = "Day by day <small>the last year in UTC, one column per week</small>"
        let choice = window.choice.rawValue
        let sheet: HTML = "<a href=\"/availability.csv?window=\(choice)\" download>Day by day as CSV</a>. "
        let main: HTML = """
            \(hero)
            \(PageParts.card("spent", "Time by state \(window.tabs)", "\(rows)"))
            \(BarWindow.legend)
            \(table)
            \(PageParts.card("days", dayHeading, "\(days)"))
            \(PageParts.more(sheet, api: "/v1/availability?window=\(choice)"))
            """
        return Layout(title: "Availability", account: account, place: "/availability", main: main)
    }

    /// The maximum number of targets for which each day with an outage has a tooltip.
    private static let detailLimit = 10

    private static func calendar(_ name: String, _ times: KnownTimes, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let start = DayCalendar.start(snapshot)
        let isDetailed = snapshot.accounting.accounts.count <= detailLimit
        return """
            <div class="row calendar"><div class="name">\(PageParts.link(to: name))</div>\
            <div class="scroll" tabindex="0" role="group" aria-label="Days of \(name)">\
            \(DayCalendar.svg(times.days(of: name, from: start), of: name, isDetailed: isDetailed))</div></div>
            """
    }

    /// Returns the account with the most lost time.
    private static func costliest(_ values: [Availability]) -> LedgerAccount {
        let lost = [LedgerAccount.us, .upstream, .them].map { account in
            (account, values.reduce(Duration.zero) { $0 + $1.duration(account) })
        }
        return lost.max { $0.1 < $1.1 }?.0 ?? .up
    }

    /// Returns a row with a bar that shows the share of each account.
    private static func row(_ name: String, _ value: Availability) -> HTML {
        let whole = Double(max(1, value.window.nanoseconds))
        let shares = LedgerAccount.allCases.map { ($0, Double(value.duration($0).nanoseconds) / whole) }
        let bounds = [value.atLeast, value.atMost].map { $0?.shortPercent ?? "?" }
        return PageParts.row(
            PageParts.link(to: name),
            PageParts.shareBar(shares, height: 28, label: TimeBar.label(name, value)),
            state: """
                \(PageParts.share(value))<small>of the whole window: \(bounds[0]) to \(bounds[1])\u{a0}%</small>
                """
        )
    }

    private static func table(_ items: [(name: String, value: Availability)]) -> HTML {
        let heads = LedgerAccount.allCases.map { account -> HTML in
            "<th scope=\"col\">\(StateDescription.name(account))</th>"
        }
        let rows = items.map { item -> HTML in
            let cells = LedgerAccount.allCases.map { account -> HTML in "<td>\(item.value.duration(account).units)</td>"
            }
            let shares = [item.value.ours, item.value.provider, item.value.theirs].map { share -> HTML in
                "<td>\(share.map { "\($0.shortPercent)\u{a0}%" } ?? "–")</td>"
            }
            return "<tr><td><bdi>\(item.name)</bdi></td>\(cells)\(shares)</tr>"
        }
        return """
            <table><thead><tr><th scope="col">target</th>\(heads)<th scope="col">our share</th><th scope="col">provider’s</th>\
            <th scope="col">target’s</th></tr></thead><tbody>\(rows)</tbody></table>
            """
    }
}

extension API {
    /// Returns the days of a target from the start of a day until now.
    ///
    /// - Parameter limit: The maximum number of intervals that are read individually. If there are more, sums of days are used.
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

/// A chart of the UTC days of the last year, with one column per week.
struct DayCalendar {
    /// A day and its availability.
    struct Day {
        /// The date, such as `2026-11-25`.
        let name: String
        let availability: Availability

        /// The account that determines the colour: the one with the most lost time. Without lost time it is the first of `up`,
        /// `maintenance` and `unknown` that has any time.
        var account: LedgerAccount {
            let lost = [LedgerAccount.us, .upstream, .them].filter { availability.duration($0) > .zero }
            if let worst = lost.max(by: { availability.duration($0) < availability.duration($1) }) { return worst }
            if availability.duration(.up) > .zero { return .up }
            return availability.duration(.maintenance) > .zero ? .maintenance : .unknown
        }
    }

    /// The number of weeks.
    static let weeks = 53

    /// Returns the start of the first day, which is a Monday.
    static func start(_ snapshot: MonitoringService.Snapshot) -> LedgerInstant {
        let today = number(of: snapshot.now, snapshot)
        // 1 January 1970 was a Thursday.
        let monday = (today + 3).floored(by: 7) * 7 - 3
        return snapshot.calendar.instant(atWall: .seconds((monday - Int64(weeks - 1) * 7) * 86400))
    }

    /// Returns the days from an instant until now.
    ///
    /// - Parameters:
    ///   - intervals: The intervals, earliest first.
    ///   - settled: The sums of days. They do not include the time of the intervals.
    static func days(
        from start: LedgerInstant,
        _ intervals: [LedgerInterval],
        settled: [SettledDay] = [],
        _ snapshot: MonitoringService.Snapshot
    ) -> [Day] {
        // The days of the ledger's time differ slightly from those of UTC.
        let sums = Dictionary(grouping: settled) { Self.number(of: $0.start + SettledDay.length / 2, snapshot) }
        var days: [Day] = []
        var rest = intervals[...]
        let first = number(of: start, snapshot)
        var from = start
        // The number of days is limited, because the clock may have been wrong by years.
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

    /// Returns the number of the UTC day since 1970.
    static func number(of instant: LedgerInstant, _ snapshot: MonitoringService.Snapshot) -> Int64 {
        snapshot.calendar.wall(at: instant).components.seconds.floored(by: 86400)
    }

    /// Returns the chart.
    ///
    /// - Parameters:
    ///   - days: The days, starting with a Monday.
    ///   - isDetailed: True if each day with an outage has a tooltip, which makes the page much larger.
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

    /// The width and height of a day with its margin, in units of the drawing.
    private static let cell = 13

    /// Returns a path with a rectangle for each run of days with the same account within a week.
    ///
    /// The coordinates are relative to the previous rectangle, because repetitions compress well. The fill pattern draws the single days.
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

extension SettledDay {
    /// Returns the sums of the day as intervals for a chart, in the gaps between known intervals. The lengths are exact, the order is
    /// arbitrary.
    ///
    /// - Parameters:
    ///   - known: The known intervals, earliest first.
    ///   - end: The end of the chart.
    func shares(around known: some Sequence<LedgerInterval>, until end: LedgerInstant) -> [LedgerInterval] {
        var free = gaps(between: known, until: end)[...]
        var shares: [LedgerInterval] = []
        for account in LedgerAccount.allCases where account != .unknown {
            var rest = times[account] ?? .zero
            while rest > .zero, let gap = free.first {
                let to = min(gap.to, gap.from + rest)
                shares.append(LedgerInterval(TargetState(account), from: gap.from, to: to))
                rest = rest - (to - gap.from)
                free[free.startIndex].from = to
                if to == gap.to { free.removeFirst() }
            }
        }
        return shares
    }

    /// Returns the parts of the day without a known interval.
    private func gaps(
        between known: some Sequence<LedgerInterval>,
        until end: LedgerInstant
    ) -> [(from: LedgerInstant, to: LedgerInstant)] {
        let end = min(end, start + Self.length)
        var gaps: [(from: LedgerInstant, to: LedgerInstant)] = []
        var from = start
        for interval in known where interval.end ?? end > start && interval.start < end {
            if interval.start > from { gaps.append((from, interval.start)) }
            from = max(from, interval.end ?? end)
        }
        if from < end { gaps.append((from, end)) }
        return gaps
    }
}

extension TargetState {
    fileprivate init(_ account: LedgerAccount) {
        self.init(Attribution(rawValue: account.rawValue) ?? .unknown, isMaintenance: account == .maintenance)
    }
}
