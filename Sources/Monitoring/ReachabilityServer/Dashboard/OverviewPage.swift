import LinuxSupport
import ReachabilityLedger
package import ReachabilityService

extension API {
    /// Returns the page with the current state in one sentence, the targets, and the latest outages.
    func overviewPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let times = KnownTimes(self, snapshot, of: snapshot.accounting.accounts.count)
        let outageCount = reader.outageSums(OutageFilter(), snapshot).reduce(0) { $0 + $1.count }
        let window = try BarWindow(query, snapshot, since: service.start)
        let headline = Headline(snapshot)
        let targets = snapshot.accounting.targets
        // With a single target there is room for two bars.
        let windows =
            targets.count == 1 && [.quarter, .hour].contains(window.choice)
            ? [window, BarWindow(.day, snapshot)] : [window]
        let rows = targets.map { Self.row($0, windows, times, snapshot) }
        let more: HTML? =
            outageCount > 6 ? "<p class=\"more\"><a href=\"/outages\">All \(outageCount) outages</a></p>" : nil
        let notices = snapshot.notices.map { notice -> HTML in "<p class=\"more\">\(notice)</p>" }
        let main: HTML = """
            \(headline.html(snapshot))\(notices)
            \(PageParts.card("targets", "Targets \(window.tabs)", "\(rows)"))\(BarWindow.legend)
            <h2 id="last">Latest outages</h2>
            <section data-part="outages" aria-labelledby="last"><div class="card">\
            \(snapshot.list(latest(snapshot, limit: 6)))</div>\(more)</section>
            """
        return Layout(title: headline.sentence, account: headline.account, place: "/", main: main)
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
        let count = windows.count * snapshot.accounting.accounts.count
        let bars = zip(windows, spans).map { $0.bar($1, height: windows.count > 1 ? 34 : 28, of: count) }
        return PageParts.row(
            "\(PageParts.link(to: name))<small>\(kind)</small>",
            "<div class=\"spans\">\(bars)</div>",
            state: """
                <p>\(Sign.pill(current.state)) <span class="soft">for \
                \(snapshot.lasting(since: current.start))</span></p>\(check)\
                \(PageParts.share(spans[0].availability))
                """
        )
    }
}

/// The sentence on top of the overview, and the time since which it is true.
///
/// It describes this machine or its provider only if the network at large is down, or if all targets are down with the same cause.
/// Otherwise it states the number of targets that are down.
struct Headline {
    /// The name of the target whose state describes the network at large.
    private static let atLarge = "internet"
    /// The maximum number of names of targets.
    private static let nameLimit = 5

    /// The account that determines the colour and the sign.
    let account: LedgerAccount
    /// A Boolean value that indicates whether targets are degraded and none is down.
    private let isDegraded: Bool
    /// The sentence without its full stop.
    let sentence: String
    /// The time since which the sentence is true.
    let since: LedgerInstant
    /// The explanation below the sentence.
    let lead: HTML

    /// A target and its state.
    private struct Entry {
        let name: String
        let current: LedgerInterval
        /// The start of the outage, or of the state if it is not an outage.
        let since: LedgerInstant

        var state: TargetState { current.state }
    }

    init(_ snapshot: MonitoringService.Snapshot) {
        let entries = snapshot.accounting.targets.compactMap { name in
            snapshot.accounting.accounts[name].map { account in
                Entry(
                    name: name,
                    current: account.ledger.current,
                    since: account.ledger.outage?.start ?? account.ledger.current.start
                )
            }
        }
        let down = entries.filter(\.state.isOutage)
        let unknown = entries.filter { $0.state.account == .unknown }
        let degraded = entries.filter(\.state.isDegraded)
        let affected = [down, unknown, degraded].first { !$0.isEmpty } ?? []
        isDegraded = down.isEmpty && unknown.isEmpty && !degraded.isEmpty
        guard !affected.isEmpty else {
            account = .up
            sentence = entries.isEmpty ? "Nothing is monitored" : "Everything works"
            since = entries.map(\.current.start).max() ?? snapshot.now
            lead = Self.lead(entries.map(\.state))
            return
        }
        account = Self.account(of: affected)
        if let one = Self.representative(of: affected, among: entries) {
            sentence = StateDescription.sentence(one.state, of: one.name)
            since = one.since
            let others = affected.filter { $0.name != one.name }
            let count: HTML? =
                entries.count > 1 ? " \(Self.count(affected, of: entries)): \(Self.names([one] + others))." : nil
            lead = "\(Self.meaning(of: one, snapshot))\(count)"
        } else {
            sentence = Self.count(affected, of: entries)
            since = affected.map(\.since).max() ?? snapshot.now
            let unknown: HTML? =
                down.isEmpty || unknown.isEmpty ? nil : " \(Self.count(unknown, of: entries)): \(Self.names(unknown))."
            if affected.count == 1 {
                let description = StateDescription.sentence(affected[0].state, of: affected[0].name)
                let name: HTML? = description.contains(affected[0].name) ? nil : "\(affected[0].name): "
                lead = "\(name)\(description). \(Self.meaning(of: affected[0], snapshot))\(unknown)"
            } else {
                lead = "\(Self.names(affected)).\(unknown)"
            }
        }
    }

    /// Returns the account of most of the affected targets. If several are equal, it is the one nearest to this machine.
    private static func account(of affected: [Entry]) -> LedgerAccount {
        func count(_ account: LedgerAccount) -> Int { affected.count { $0.state.account == account } }
        return [LedgerAccount.us, .upstream, .them, .unknown, .up].max { count($0) < count($1) } ?? .unknown
    }

    /// Returns the target whose state describes all affected targets; nil if no single state does.
    private static func representative(of affected: [Entry], among all: [Entry]) -> Entry? {
        if all.count == 1 { return affected[0] }
        if let atLarge = affected.first(where: { $0.name == Self.atLarge }), !atLarge.state.isDegraded {
            return atLarge
        }
        let watched = all.count { $0.state.account != .maintenance }
        let first = affected[0].state
        let agree = affected.allSatisfy { ($0.state.attribution, $0.state.cause) == (first.attribution, first.cause) }
        return affected.count == watched && agree && StateDescription.isGeneral(first) ? affected[0] : nil
    }

    /// Returns a sentence such as `5 of 13 targets are down`.
    private static func count(_ affected: [Entry], of all: [Entry]) -> String {
        let number =
            affected.count == all.count ? "All \(all.count) targets" : "\(affected.count) of \(all.count) targets"
        let state =
            affected[0].state.isDegraded ? "degraded" : affected[0].state.isOutage ? "down" : "not observed"
        return "\(number) \(affected.count == 1 ? "is" : "are") \(state)"
    }

    private static func names(_ entries: [Entry]) -> String {
        let names = entries.prefix(nameLimit).map(\.name).joined(separator: ", ")
        return entries.count > nameLimit ? "\(names) and \(entries.count - nameLimit) more" : names
    }

    /// Returns the meaning of a target's reason with a remedy, or else the sentence of its check.
    private static func meaning(of entry: Entry, _ snapshot: MonitoringService.Snapshot) -> HTML? {
        StateDescription.explanation(entry.current.reason).map {
            "\($0.meaning) <span class=\"remedy\">\($0.remedy)</span>"
        }
            ?? snapshot.checkSentence(of: entry.name).map { "\($0)" }
    }

    private static func lead(_ states: [TargetState]) -> HTML {
        let what = states.count == 1 ? "Packets can leave this machine" : "All \(states.count) targets are up"
        let basis =
            states.contains { $0.basis == .checks } ? "the kernel and checks" : "the kernel only, without packets"
        return states.isEmpty ? "" : "\(what). Based on \(basis). Changes appear here immediately."
    }

    func html(_ snapshot: MonitoringService.Snapshot) -> HTML {
        let isFine = account == .up && !isDegraded
        return PageParts.hero(
            mark: mark,
            "\(sentence)\(isFine ? "." : "")",
            saying: sentence,
            when: "\(isFine ? "Since " : "since ")\(snapshot.since(since))",
            lead: lead
        )
    }

    private var mark: String { isDegraded ? TargetState.degradedMark : account.rawValue }
}

extension MonitoringService.Snapshot {
    /// The sentence on top of the overview, without its full stop.
    package var headline: String { Headline(self).sentence }
}
