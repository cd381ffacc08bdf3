import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// The time that pictures of a page show.
struct BarWindow {
    enum Choice: String, CaseIterable {
        case quarter = "15m"
        case hour = "1h"
        case day = "24h"
        case week = "7d"
        case month = "30d"
        case year = "365d"

        var length: Duration {
            switch self {
            case .quarter: .seconds(900)
            case .hour: .seconds(3600)
            case .day: .seconds(86400)
            case .week: .seconds(7 * 86400)
            case .month: .seconds(30 * 86400)
            case .year: .seconds(365 * 86400)
            }
        }

        var name: String {
            switch self {
            case .quarter: "15\u{a0}min"
            case .hour: "hour"
            case .day: "day"
            case .week: "week"
            case .month: "30 days"
            case .year: "year"
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

    /// What the reader asked for; else a day, or less while there is not more to see.
    init(_ query: Query, _ snapshot: MonitoringService.Snapshot, since start: LedgerInstant) throws(Problem) {
        let age = snapshot.now - start
        let usual = age < .seconds(1800) ? Choice.quarter : age < .seconds(2 * 3600) ? .hour : .day
        self.init(try query.word("window", Choice.self) ?? usual, snapshot)
    }

    /// Links to the others.
    var tabs: HTML {
        let links = Choice.allCases.map { other -> HTML in
            let current: HTML = other == choice ? " aria-current=\"true\"" : ""
            return "<a href=\"?window=\(other.rawValue)\"\(current)>\(other.name)</a>"
        }
        return "<span class=\"tabs\">\(links)</span>"
    }

    /// - Parameter count: The number of bars on the page.
    func bar(_ times: TargetTimes, height: Int = 28, of count: Int = 1) -> HTML {
        let label = TimeBar.label("the last \(choice.name)", times.availability)
        let (start, middle) = Self.axis(choice)
        let bar = TimeBar(from: from, to: to, height: height, columns: TimeBar.columns(forBars: count))
        return """
            <div>\(bar.svg(times.picture, label: label))\
            <div class="axis" aria-hidden="true"><span>\(start)</span><span>\(middle)</span><span>now</span></div></div>
            """
    }

    private static func axis(_ choice: Choice) -> (String, String) {
        switch choice {
        case .quarter: ("15\u{a0}min ago", "7½\u{a0}min")
        case .hour: ("60\u{a0}min ago", "30\u{a0}min")
        case .day: ("24\u{a0}h ago", "12\u{a0}h")
        case .week: ("7\u{a0}d ago", "3½\u{a0}d")
        case .month: ("30\u{a0}d ago", "15\u{a0}d")
        case .year: ("a year ago", "6\u{a0}months")
        }
    }

    /// What the colours and patterns mean.
    static let legend = Sign.legend(LedgerAccount.allCases, withDegraded: true)
}

extension MonitoringService.Snapshot {
    /// The intervals of a target, the open one last.
    func intervals(of target: String) -> [LedgerInterval] {
        books.accounts[target].map { $0.intervals + [$0.ledger.current] } ?? []
    }
}
