import LinuxSupport
package import ReachabilityLedger
import ReachabilityService

/// A bar that shows states over time, to scale. Each state has its own colour and pattern. Time without observation stays empty.
///
/// The bar has a fixed number of columns, and each column shows one state. Therefore its size does not depend on the number of intervals.
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
        [700, 350, 175, 140, 100, 70].first { $0 * count <= 14_000 } ?? 70
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
        let columns = marks(of: intervals)
        let width = Self.columnLimit / self.columns
        var (paths, ends): ([String], [Int]) = (Self.marks.map { _ in "" }, Self.marks.map { _ in 0 })
        var index = 0
        while index < columns.count {
            let mark = columns[index]
            let first = index
            while index < columns.count, columns[index] == mark { index += 1 }
            guard let mark else { continue }
            let length = (index - first) * width
            // The coordinates are relative to the previous rectangle, because repetitions compress well.
            paths[mark] += "m\(first * width - ends[mark]) 0h\(length)v\(height)h-\(length)z"
            ends[mark] = first * width
        }
        return zip(Self.marks, paths).compactMap { mark, path in
            if path.isEmpty { return nil }
            return "<path class=\"s-\(mark)\"\(Sign.fill(mark)) d=\"\(path)\"/>"
        }
    }

    /// The states that are drawn. Later ones take precedence.
    private static let marks = ["up", "degraded", "maintenance", "us", "upstream", "them"]
    /// The indices of the outage states in ``marks``.
    private static let outages = 3..<6

    /// Returns the state of each column as an index of ``marks``; nil for a column of which more than half was not observed.
    ///
    /// A column with an outage shows the longest one, no matter how short it was.
    private func marks(of intervals: [LedgerInterval]) -> [Int?] {
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
            let outage = Self.outages.max { times[$0][column] < times[$1][column] }
            if let outage, times[outage][column] > 0 { return outage }
            if times[2][column] > 0 { return 2 }
            if times[1][column] > 0 { return 1 }
            return times[0][column] >= 0.5 ? 0 : nil
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
        case year = "365d"

        var length: Duration { DurationText.duration(rawValue) ?? .zero }

        var name: String { texts.name }

        /// The name, and the labels at the start and in the middle of the axis.
        fileprivate var texts: (name: String, start: String, middle: String) {
            switch self {
            case .quarter: ("15\u{a0}min", "15\u{a0}min ago", "7½\u{a0}min")
            case .hour: ("hour", "60\u{a0}min ago", "30\u{a0}min")
            case .day: ("day", "24\u{a0}h ago", "12\u{a0}h")
            case .week: ("week", "7\u{a0}d ago", "3½\u{a0}d")
            case .month: ("30 days", "30\u{a0}d ago", "15\u{a0}d")
            case .year: ("year", "a year ago", "6\u{a0}months")
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

    /// Reads the window from the parameter `window`. The default is a day, or less if the service started recently.
    init(_ query: Query, _ snapshot: MonitoringService.Snapshot, since start: LedgerInstant) throws(Problem) {
        let age = snapshot.now - start
        let usual = age < .seconds(1800) ? Choice.quarter : age < .seconds(2 * 3600) ? .hour : .day
        self.init(try query.word("window", Choice.self) ?? usual, snapshot)
    }

    /// The links to all windows.
    var tabs: HTML { PageParts.tabs(Choice.allCases.map { ($0.name, "?window=\($0.rawValue)", $0 == choice) }) }

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

    static let legend = Sign.legend(LedgerAccount.allCases, withDegraded: true)
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
