import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// How the time of each target was spent: the seconds, and the percentages with their bounds.
struct AvailabilityPage {
    let layout: Layout

    init(_ snapshot: MonitoringService.Snapshot, _ times: KnownTimes, _ window: BarWindow) {
        let items = snapshot.books.targets.map { name in
            (name: name, value: times.times(of: name, in: window).availability)
        }
        let worst = items.compactMap(\.value.availability).min()
        let sentence =
            worst.map { $0 == 1 ? "Nothing was lost" : "\($0.shortPercent) % at least" } ?? "Nothing was observed"
        let account = worst == nil ? .unknown : worst == 1 ? .up : Self.costliest(items.map(\.value))
        let main: HTML = """
            <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))<div>\
            <h1>\(sentence). <span class="when">Of what was observed in the last \(window.choice.name).</span></h1>\
            <p class="lead">Time in which nobody observed is never counted as up: it widens the bounds instead.</p></div></section>
            <h2 id="spent">How the time was spent \(window.tabs)</h2>
            <section class="card" data-part="spent" aria-labelledby="spent">\(items.map { Self.row($0.name, $0.value) })</section>
            \(BarWindow.legend)
            <h2 id="seconds">In numbers</h2>
            <section class="card scroll" data-part="seconds" aria-labelledby="seconds" tabindex="0">\(Self.table(items))</section>
            <h2 id="days">Day by day <small>a week a column, the last year, in UTC</small></h2>
            <section class="card" data-part="days" aria-labelledby="days">\
            \(snapshot.books.targets.map { Self.calendar($0, times, snapshot) })</section>
            <p class="more"><a href="/availability.csv?window=\(window.choice.rawValue)" download>Day by day as CSV</a>. For programs: <a href="/v1/availability?window=\(window.choice.rawValue)">\
            <code>/v1/availability?window=\(window.choice.rawValue)</code></a></p>
            """
        layout = Layout(title: "Availability", account: account, place: "/availability", main: main)
    }

    /// The maximum number of targets whose days have texts.
    private static let detailLimit = 10

    private static func calendar(_ name: String, _ times: KnownTimes, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let start = DayCalendar.start(snapshot)
        let isDetailed = snapshot.books.accounts.count <= detailLimit
        return """
            <div class="row calendar"><div class="name"><a href="\(DashboardPage.target(name).link)"><bdi>\(name)</bdi></a></div>\
            <div class="scroll" tabindex="0" role="group" aria-label="Days of \(name)">\
            \(DayCalendar.svg(times.days(of: name, from: start), of: name, isDetailed: isDetailed))</div></div>
            """
    }

    /// Who lost the most time.
    private static func costliest(_ values: [Availability]) -> LedgerAccount {
        let lost = [LedgerAccount.us, .upstream, .them].map { account in
            (account, values.reduce(Duration.zero) { $0 + $1.duration(account) })
        }
        return lost.max { $0.1 < $1.1 }?.0 ?? .up
    }

    /// All of the window as one bar: shares, not moments.
    private static func row(_ name: String, _ value: Availability) -> HTML {
        let whole = Double(max(1, value.window.nanoseconds))
        var left = 0.0
        let parts = LedgerAccount.allCases.map { account -> HTML in
            let share = Double(value.duration(account).nanoseconds) / whole
            defer { left += share }
            let paint: HTML = account == .up ? "" : " fill=\"url(#p-\(account.rawValue))\""
            return share == 0
                ? ""
                : """
                <rect class="s-\(account.rawValue)" x="\(left.percentText)%" width="\(share.percentText)%" height="100%"\(paint)/>
                """
        }
        let bounds = [value.atLeast, value.atMost].map { $0?.shortPercent ?? "?" }
        return """
            <div class="row"><div class="name"><a href="\(DashboardPage.target(name).link)"><bdi>\(name)</bdi></a></div>\
            <svg class="bar" height="28" width="100%" role="img" aria-label="\(TimeBar.label(name, value))">\(parts)</svg>\
            <div class="state">\(OverviewPage.share(value))<small>all of it: from \(bounds[0]) to \(bounds[1])\u{a0}%</small></div></div>
            """
    }

    private static func table(_ items: [(name: String, value: Availability)]) -> HTML {
        let heads = LedgerAccount.allCases.map { account -> HTML in "<th scope=\"col\">\(Words.name(account))</th>" }
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
