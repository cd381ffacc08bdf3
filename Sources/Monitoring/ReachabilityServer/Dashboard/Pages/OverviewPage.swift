import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// How it is now: one sentence, the targets, the last outages.
struct OverviewPage {
    let layout: Layout

    init(
        _ snapshot: MonitoringService.Snapshot,
        _ times: KnownTimes,
        _ outages: [Outage],
        _ outageCount: Int,
        _ window: BarWindow
    ) {
        let headline = Headline(snapshot)
        let targets = snapshot.books.targets
        // One target alone has room for two pictures.
        let windows =
            targets.count == 1 && [.quarter, .hour].contains(window.choice)
            ? [window, BarWindow(.day, snapshot)] : [window]
        let rows = targets.map { Self.row($0, windows, times, snapshot) }
        let more: HTML? =
            outageCount > 6 ? "<p class=\"more\"><a href=\"/outages\">All \(outageCount) outages</a></p>" : nil
        let notices = snapshot.notices.map { notice -> HTML in "<p class=\"more\">\(notice)</p>" }
        let main: HTML = """
            \(headline.html(snapshot))\(notices)
            <h2 id="targets">Targets \(window.tabs)</h2>
            <section class="card" data-part="targets" aria-labelledby="targets">\(rows)</section>\(BarWindow.legend)
            <h2 id="last">The last outages</h2>
            <section data-part="outages" aria-labelledby="last"><div class="card">\
            \(OutageList(outages: outages).html(snapshot))</div>\(more)</section>
            """
        layout = Layout(title: headline.sentence, account: headline.account, place: "/", main: main)
    }

    private static func row(
        _ name: String,
        _ windows: [BarWindow],
        _ times: KnownTimes,
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        guard let current = snapshot.intervals(of: name).last, !windows.isEmpty else { return "" }
        let spans = windows.map { times.times(of: name, in: $0) }
        let kind = name == "internet" ? "the network at large" : ""
        let check: HTML? =
            current.state.account == .up && !current.state.isDegraded
            ? nil : snapshot.checkSentence(of: name).map { "<small>\($0)</small>" }
        let count = windows.count * snapshot.books.accounts.count
        let bars = zip(windows, spans).map { $0.bar($1, height: windows.count > 1 ? 34 : 28, of: count) }
        return """
            <div class="row"><div class="name"><a href="\(DashboardPage.target(name).link)"><bdi>\(name)</bdi></a>\
            <small>\(kind)</small></div><div class="spans">\(bars)</div>\
            <div class="state"><p>\(Sign.pill(current.state)) <span class="soft">for \
            \(snapshot.lasting(since: current.start))</span></p>\(check)\
            \(share(spans[0].availability))</div></div>
            """
    }

    /// The percentage, and what was lost to whom.
    static func share(_ availability: Availability) -> HTML {
        let lost = [LedgerAccount.us, .upstream, .them, .maintenance].compactMap { account -> String? in
            let time = availability.duration(account)
            return time > .zero ? "\(Words.name(account)) \(time.units)" : nil
        }
        let text = lost.isEmpty ? "nothing lost" : lost.joined(separator: " · ")
        guard let share = availability.availability else { return "<small>nothing observed</small>" }
        let observed = availability.window - availability.duration(.unknown)
        let part: HTML? =
            availability.duration(.unknown) > .zero ? "<small>observed for \(observed.wholeUnits)</small>" : nil
        return "<span class=\"share\">\(share.shortPercent)\u{a0}%</span><small>\(text)</small>\(part)"
    }
}

extension Double {
    /// A share as a percentage of at most three digits behind the point, cut: 100 only where nothing was lost.
    var shortPercent: String { Int64((self * 1e5).rounded(.down)).decimal(places: 3) }
}
