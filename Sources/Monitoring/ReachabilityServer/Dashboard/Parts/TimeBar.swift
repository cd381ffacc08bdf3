import LinuxSupport
package import ReachabilityLedger

/// A picture of a time to scale: each state has a colour and a pattern of its own, and what was not observed stays open.
///
/// The bar has a fixed number of columns, and each column shows one state. Its size therefore does not depend on the number of intervals.
package struct TimeBar {
    let from: LedgerInstant
    let to: LedgerInstant
    /// The height in pixels.
    let height: Int
    private let columns: Int

    /// The maximum number of columns of a bar: about as many as pixels.
    static let columnLimit = 700

    /// - Parameter columns: The number of columns, a divisor of ``columnLimit``.
    package init(from: LedgerInstant, to: LedgerInstant, height: Int = 28, columns: Int? = nil) {
        (self.from, self.to, self.height) = (from, to, height)
        self.columns = columns ?? Self.columnLimit
    }

    /// Returns the number of columns of each bar on a page with several bars, so that the page stays small.
    static func columns(forBars count: Int) -> Int {
        [700, 350, 175, 140, 100, 70].first { $0 * count <= 14_000 } ?? 70
    }

    /// - Parameter label: The text alternative.
    package func svg(_ intervals: [LedgerInterval], label: String) -> HTML {
        """
        <svg class="bar" height="\(height)" width="100%" role="img" aria-label="\(label)">\
        <rect class="gap" width="100%" height="100%" fill="url(#p-unknown)"/>\
        <svg viewBox="0 0 \(Self.columnLimit) \(height)" preserveAspectRatio="none">\(paths(intervals))</svg></svg>
        """
    }

    /// A path for each state, with a rectangle for each run of columns.
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
            // Relative to the rectangle before, because repetitions can be compressed.
            paths[mark] += "m\(first * width - ends[mark]) 0h\(length)v\(height)h-\(length)z"
            ends[mark] = first * width
        }
        return zip(Self.marks, paths).compactMap { mark, path in
            if path.isEmpty { return nil }
            let paint: HTML = mark == "up" ? "" : " fill=\"url(#p-\(mark))\""
            return "<path class=\"s-\(mark)\"\(paint) d=\"\(path)\"/>"
        }
    }

    /// The states that are drawn, those on top last.
    private static let marks = ["up", "degraded", "maintenance", "us", "upstream", "them"]
    /// The states of outages: the indices of ``marks``.
    private static let outages = 3..<6

    /// Returns the state of each column, as an index of ``marks``; nil if most of it was not observed. An outage is shown however short it was:
    /// of several the longest.
    private func marks(of intervals: [LedgerInterval]) -> [Int?] {
        var times = Self.marks.map { _ in [Double](repeating: 0, count: columns) }
        for interval in intervals {
            guard let mark = Self.marks.firstIndex(of: interval.state.mark) else { continue }
            let (left, right) = (place(interval.start), place(interval.end ?? to))
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

    /// The place of a moment in columns.
    private func place(_ instant: LedgerInstant) -> Double {
        let whole = Double((to - from).nanoseconds)
        return whole > 0 ? min(1, max(0, Double((instant - from).nanoseconds) / whole)) * Double(columns) : 0
    }

    /// For example `the last 24 h: up 23 h 59 min, this machine 12 s`.
    static func label(_ name: String, _ availability: Availability) -> String {
        let parts = LedgerAccount.allCases.compactMap { account in
            let time = availability.duration(account)
            return time > .zero ? "\(Words.name(account)) \(time.units)" : nil
        }
        return "\(name): " + parts.joined(separator: ", ")
    }
}
