import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns the page with the availability of each target: times, and percentages with their bounds.
    func availabilityPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let times = KnownTimes(self, snapshot, of: snapshot.accounting.accounts.count)
        let window = try BarWindow(query, snapshot, since: service.start)
        let items = snapshot.order.map { name in
            (name: name, value: times.times(of: name, in: window).availability)
        }
        let lowest = items.filter { $0.value.availability != nil }
            .min { ($0.value.availability ?? 1) < ($1.value.availability ?? 1) }
        let worst = lowest?.value.availability
        let name = worst.flatMap { $0 < 1 ? lowest?.name : nil }.map { "The lowest is that of \($0). " } ?? ""
        let sentence =
            worst.map { $0 == 1 ? "Nothing was lost" : "At least \($0.shortPercent) %" } ?? "Nothing was observed"
        let account = worst == nil ? .unknown : worst == 1 ? .up : Self.costliest(items.map(\.value))
        let hero = PageParts.hero(
            mark: account.rawValue,
            "\(sentence).",
            when: "Of the time observed in the last \(window.choice.name).",
            lead: "\(name)Time without observation does not count as up. It only widens the bounds."
        )
        let rows = items.map { Self.row($0.name, $0.value) }
        let table = PageParts.card(
            "seconds",
            "Totals",
            Self.table(items),
            class: "card scroll",
            attributes: " tabindex=\"0\""
        )
        let days = snapshot.order.map { Self.calendar($0, times, snapshot) }
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
        let window = Double(max(1, value.window.nanoseconds))
        let shares = LedgerAccount.allCases.map { ($0, Double(value.duration($0).nanoseconds) / window) }
        let bounds = [value.atLeast, value.atMost].map { $0?.shortPercent ?? "?" }
        let whole: HTML? =
            bounds[0] == bounds[1]
            ? nil
            : "<small>of the whole window: at least \(bounds[0])\u{a0}%, at most \(bounds[1])\u{a0}%</small>"
        return PageParts.row(
            PageParts.link(to: name),
            PageParts.shareBar(shares, height: 28, label: TimeBar.label(name, value)),
            state: """
                \(PageParts.share(value))\(whole)
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
        /// The number of the UTC day since 1970.
        let number: Int64
        let availability: Availability

        /// The date, such as `2026-11-25`.
        var name: String { String(Timestamp(real: .seconds(number * 86400)).text.prefix(10)) }

        /// The account that determines the pattern: the one with the most lost time. Without lost time it is the first of `up`,
        /// `maintenance` and `unknown` that has any time.
        var account: LedgerAccount {
            let lost = [LedgerAccount.us, .upstream, .them].filter { availability.duration($0) > .zero }
            if let worst = lost.max(by: { availability.duration($0) < availability.duration($1) }) { return worst }
            if availability.duration(.up) > .zero { return .up }
            return availability.duration(.maintenance) > .zero ? .maintenance : .unknown
        }

        /// The step of the lost share of the observed time: 1 below 0.1 %, 2 below 1 %, 3 below 10 %, otherwise 4.
        var step: Int {
            let lost = 1 - (availability.availability ?? 1)
            return lost < 0.001 ? 1 : lost < 0.01 ? 2 : lost < 0.1 ? 3 : 4
        }

        /// The style class and the pattern of the day.
        fileprivate var shade: Shade {
            Shade(account: account, step: [.us, .upstream, .them].contains(account) ? step : 4)
        }
    }

    /// The appearance of a day: the pattern of an account and, for lost time, one of four steps.
    fileprivate struct Shade: Hashable {
        let account: LedgerAccount
        let step: Int
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
            var availability = Availability(of: inside, from: from, to: to)
            availability.add(sums[number] ?? [])
            days.append(Day(number: number, availability: availability))
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
        let shades = days.map(\.shade)
        let paths = kinds(of: shades).map { shade -> HTML in
            if isDetailed, shade.account != .up { return "" }
            let path = path(of: shade, shades)
            return "<path class=\"l\(shade.step)\" fill=\"url(#d-\(shade.account.rawValue))\" d=\"\(path)\"/>"
        }
        let cells = zip(days, shades).enumerated().map { index, day -> HTML? in
            if !isDetailed || day.1.account == .unknown || day.1.account == .up { return nil }
            let label = TimeBar.label(day.0.name, day.0.availability)
            let place: HTML = "x=\"\(index / 7 * cell)\" y=\"\(index % 7 * cell)\""
            let fill: HTML = "class=\"l\(day.1.step)\" fill=\"url(#p-\(day.1.account.rawValue))\""
            return "<rect \(fill) \(place)><title>\(label)</title></rect>"
        }
        let bad = shades.count { [.us, .upstream, .them].contains($0.account) }
        let label = "\(target): \(bad) of \(shades.count { $0.account != .unknown }) days observed had an outage"
        return """
            <svg class="days" viewBox="0 0 \(weeks * cell) \(7 * cell)" role="img" aria-label="\(label)">\
            <rect class="all" fill="url(#p-day)"/>\(paths)\(cells.compactMap(\.self))</svg>
            """
    }

    /// Returns the shades of days that are drawn.
    private static func kinds(of shades: [Shade]) -> [Shade] {
        Set(shades).filter { $0.account != .unknown }.sorted {
            ($0.account.rawValue, $0.step) < ($1.account.rawValue, $1.step)
        }
    }

    /// Returns a bar with a cell for each day.
    static func strip(_ days: some Collection<Day>, height: Int, label: String) -> HTML {
        let shades = days.map(\.shade)
        let paths = kinds(of: shades).map { shade -> HTML in
            var (path, left, index) = ("", 0, 0)
            while index < shades.count {
                let first = index
                while index < shades.count, shades[index] == shade { index += 1 }
                if first == index {
                    index += 1
                    continue
                }
                path += "m\(first * 10 - left) 0h\((index - first) * 10)v\(height)h-\((index - first) * 10)z"
                left = first * 10
            }
            let mark = shade.account.rawValue
            return "<path class=\"s-\(mark) l\(shade.step)\"\(Sign.fill(mark)) d=\"\(path)\"/>"
        }
        return """
            <svg class="bar" height="\(height)" width="100%" viewBox="0 0 \(shades.count * 10) \(height)" preserveAspectRatio="none" \
            role="img" aria-label="\(label)">\(paths)<rect width="100%" height="100%" fill="url(#p-cut)"/></svg>
            """
    }

    /// The width and height of a day with its margin, in units of the drawing.
    private static let cell = 13

    /// Returns a path with a rectangle for each run of days with the same shade within a week.
    ///
    /// The coordinates are relative to the previous rectangle, because repetitions compress well. The fill pattern draws the single days.
    private static func path(of shade: Shade, _ shades: [Shade]) -> String {
        var (path, x, y) = ("", 0, 0)
        var index = 0
        while index < shades.count {
            guard shades[index] == shade else {
                index += 1
                continue
            }
            let first = index
            repeat { index += 1 } while index < shades.count && index % 7 != 0 && shades[index] == shade
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
            var rest = Duration.nanoseconds(times[account])
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
