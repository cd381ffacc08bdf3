import LinuxSupport
package import ReachabilityLedger
import ReachabilityService

/// A bar that shows states over time, to scale. Each state has its own colour and pattern. Time without observation stays empty.
///
/// The bar has a fixed number of columns, and each column shows the share of each state as its height. Therefore a short outage does not
/// hide the time that was up, and the size does not depend on the number of intervals.
package struct TimeBar {
    let from: LedgerInstant
    let to: LedgerInstant
    /// The height in pixels.
    let height: Int
    private let columns: Int

    /// The maximum number of columns of a bar, about one per pixel.
    static let columnLimit = 700

    /// - Parameter columns: The number of columns, a divisor of ``columnLimit``.
    package init(from: LedgerInstant, to: LedgerInstant, height: Int = 28, columns: Int? = nil) {
        (self.from, self.to, self.height) = (from, to, height)
        self.columns = columns ?? Self.columnLimit
    }

    /// Returns the number of columns per bar. It decreases with the number of bars on a page, so that the page stays small.
    static func columns(forBars count: Int) -> Int {
        [350, 175, 140, 100, 70].first { $0 * count <= 14_000 } ?? 70
    }

    /// Returns the bar.
    ///
    /// - Parameter label: The text alternative for screen readers.
    package func svg(_ intervals: [LedgerInterval], label: String) -> HTML {
        """
        <svg class="bar" height="\(height)" width="100%" role="img" aria-label="\(label)">\
        <rect class="gap" width="100%" height="100%" fill="url(#p-unknown)"/>\
        <svg viewBox="0 0 \(Self.columnLimit) \(height)" preserveAspectRatio="none">\(paths(intervals))</svg></svg>
        """
    }

    /// Returns a path for each state, with a rectangle for each run of columns.
    private func paths(_ intervals: [LedgerInterval]) -> [HTML] {
        let stacks = stacks(of: intervals)
        let width = Self.columnLimit / columns
        return Self.marks.indices.compactMap { mark in
            var (path, left, top, index) = ("", 0, 0, 0)
            while index < columns {
                let (first, part) = (index, stacks[index][mark])
                while index < columns, stacks[index][mark] == part { index += 1 }
                guard let part else { continue }
                let length = (index - first) * width
                // The coordinates are relative to the previous rectangle, because repetitions compress well.
                path += "m\(first * width - left) \(part.top - top)h\(length)v\(part.height)h-\(length)z"
                (left, top) = (first * width, part.top)
            }
            return path.isEmpty
                ? nil : "<path class=\"s-\(Self.marks[mark])\"\(Sign.fill(Self.marks[mark])) d=\"\(path)\"/>"
        }
    }

    /// The part of a column that one state fills.
    private struct Part: Equatable {
        let top: Int
        let height: Int
    }

    /// The states that are drawn, from the bottom of the bar.
    private static let marks = ["them", "upstream", "us", "maintenance", "degraded", "up"]
    /// The number of outage states in ``marks``.
    private static let outages = 3

    /// Returns the part of each state in each column; nil without such a part.
    ///
    /// The height is the share of the state. A short outage is a small mark at the bottom, so that it can be found.
    private func stacks(of intervals: [LedgerInterval]) -> [[Part?]] {
        var times = Self.marks.map { _ in [Double](repeating: 0, count: columns) }
        for interval in intervals {
            guard let mark = Self.marks.firstIndex(of: interval.state.mark) else { continue }
            let (left, right) = (position(interval.start), position(interval.end ?? to))
            guard left < right else { continue }
            let last = min(columns - 1, Int(right))
            for column in min(columns - 1, Int(left))...last {
                times[mark][column] += min(right, Double(column + 1)) - max(left, Double(column))
            }
        }
        return (0..<columns).map { column in
            let shares = times.map { $0[column] }
            var (top, sum) = (height, 0.0)
            return shares.enumerated().map { mark, share in
                guard share > 0 else { return nil }
                sum += share
                let least = mark >= Self.outages ? 0 : max(2, height / (share < 0.001 ? 8 : share < 0.01 ? 6 : 5))
                let part = min(top, max(least, top - height + Int((sum * Double(height)).rounded())))
                top -= part
                return part > 0 ? Part(top: top, height: part) : nil
            }
        }
    }

    /// Returns the position of an instant, in columns.
    private func position(_ instant: LedgerInstant) -> Double {
        let whole = Double((to - from).nanoseconds)
        return whole > 0 ? min(1, max(0, Double((instant - from).nanoseconds) / whole)) * Double(columns) : 0
    }

    /// Returns a text alternative such as `the last 24 h: up 23 h 59 min, this machine 12 s`.
    static func label(_ name: String, _ availability: Availability) -> String {
        let parts = LedgerAccount.allCases.compactMap { account in
            let time = availability.duration(account)
            return time > .zero ? "\(StateDescription.name(account)) \(time.units)" : nil
        }
        return "\(name): " + parts.joined(separator: ", ")
    }
}

/// The time window of the bars of a page.
struct BarWindow {
    /// The selectable windows.
    enum Choice: String, CaseIterable {
        case quarter = "15m"
        case hour = "1h"
        case day = "24h"
        case week = "7d"
        case month = "30d"
        case ninetyDays = "90d"
        case year = "365d"

        var length: Duration { DurationText.duration(rawValue) ?? .zero }

        var name: String { texts.name }

        /// The name, and the labels at the start and in the middle of the axis.
        fileprivate var texts: (name: String, start: String, middle: String) {
            switch self {
            case .quarter: ("15\u{a0}min", "15\u{a0}min ago", "7½\u{a0}min")
            case .hour: ("1\u{a0}h", "60\u{a0}min ago", "30\u{a0}min")
            case .day: ("24\u{a0}h", "24\u{a0}h ago", "12\u{a0}h")
            case .week: ("7\u{a0}d", "7\u{a0}d ago", "3½\u{a0}d")
            case .month: ("30\u{a0}d", "30\u{a0}d ago", "15\u{a0}d")
            case .ninetyDays: ("90\u{a0}d", "90\u{a0}d ago", "45\u{a0}d")
            case .year: ("1\u{a0}year", "a year ago", "6\u{a0}months")
            }
        }
    }

    let choice: Choice
    let from: LedgerInstant
    let to: LedgerInstant

    init(_ choice: Choice, _ snapshot: MonitoringService.Snapshot) {
        self.choice = choice
        (from, to) = (snapshot.now - choice.length, snapshot.now)
    }

    /// Reads the window from the parameter `window`. The default is a day, or less if the service started recently and `start` is not nil.
    init(_ query: Query, _ snapshot: MonitoringService.Snapshot, since start: LedgerInstant?) throws(Problem) {
        let age = start.map { snapshot.now - $0 } ?? .seconds(86400)
        let usual = age < .seconds(1800) ? Choice.quarter : age < .seconds(2 * 3600) ? .hour : .day
        self.init(try query.word("window", Choice.self) ?? usual, snapshot)
    }

    /// The links to all windows.
    var tabs: HTML { tabs(Choice.allCases) }

    /// Returns links to some windows.
    ///
    /// - Parameter filter: The filter of the page, which the links keep.
    func tabs(_ choices: [Choice], filter: String? = nil) -> HTML {
        PageParts.tabs(
            choices.map { other in
                (other.name, Query.link("", [("window", other.rawValue), ("filter", filter)]), other == choice)
            }
        )
    }

    /// Returns a bar with an axis.
    ///
    /// - Parameter count: The number of bars on the page.
    func bar(_ times: TargetTimes, height: Int = 28, of count: Int = 1) -> HTML {
        let label = TimeBar.label("the last \(choice.name)", times.availability)
        let (start, middle) = (choice.texts.start, choice.texts.middle)
        let bar = TimeBar(from: from, to: to, height: height, columns: TimeBar.columns(forBars: count))
        return """
            <div>\(bar.svg(times.picture, label: label))\
            <div class="axis" aria-hidden="true"><span>\(start)</span><span>\(middle)</span><span>now</span></div></div>
            """
    }

    /// Returns a bar without an axis. From 90 days on, each day is a cell.
    func strip(_ times: TargetTimes, height: Int, of count: Int, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let label = TimeBar.label("the last \(choice.name)", times.availability)
        guard choice == .ninetyDays || choice == .year else {
            let bar = TimeBar(from: from, to: to, height: height, columns: min(140, TimeBar.columns(forBars: count)))
            return bar.svg(times.picture, label: label)
        }
        let days = DayCalendar.days(from: from, times.intervals, settled: times.days, snapshot)
        return DayCalendar.strip(days.suffix(choice == .ninetyDays ? 90 : 365), height: height, label: label)
    }

    static let legend = Sign.legend(LedgerAccount.allCases, withDegraded: true)
    /// The legend of days: four steps of the lost share, and the patterns of the parties.
    static let shades = Sign.legend(LedgerAccount.allCases, withSteps: true)
}

extension MonitoringService.Snapshot {
    /// Returns the intervals of a target in memory, oldest first. The current interval is the last one.
    func intervals(of target: String) -> [LedgerInterval] {
        accounting.accounts[target].map { $0.intervals + [$0.ledger.current] } ?? []
    }
}

/// A reader for the states of targets over time, from memory and the history.
struct KnownTimes {
    private let api: API
    private let snapshot: MonitoringService.Snapshot

    /// The maximum number of intervals of a target that are read individually. If there are more, sums of days are used, because a bar
    /// cannot show more.
    private let intervalLimit: Int

    /// - Parameter count: The number of targets on the page.
    init(_ api: API, _ snapshot: MonitoringService.Snapshot, of count: Int) {
        (self.api, self.snapshot) = (api, snapshot)
        intervalLimit = max(40, min(400, 4000 / max(1, count)))
    }

    /// Returns the intervals of a target that overlap a window, earliest first.
    ///
    /// If the history cannot be read, returns those in memory. A notice on the page reports the fault.
    func intervals(of target: String, from: LedgerInstant, to: LedgerInstant) -> [LedgerInterval] {
        let known = try? api.reader.intervals(of: target, from: from, to: to, limit: Self.readLimit, snapshot)
        return known?.reversed() ?? snapshot.intervals(of: target)
    }

    func times(of target: String, in window: BarWindow) -> TargetTimes {
        let known = try? api.times(of: target, from: window.from, to: window.to, exactUpTo: intervalLimit, snapshot)
        return known
            ?? TargetTimes(
                from: window.from,
                to: window.to,
                intervals: snapshot.intervals(of: target),
                days: [],
                basis: .path
            )
    }

    func days(of target: String, from start: LedgerInstant) -> [DayCalendar.Day] {
        (try? api.days(of: target, from: start, exactUpTo: intervalLimit, snapshot))
            ?? DayCalendar.days(from: start, snapshot.intervals(of: target), snapshot)
    }

    private static let readLimit = 10_000
}
