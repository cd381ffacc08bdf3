import LinuxSupport
import ReachabilityLedger
package import ReachabilityService

extension API {
    /// The number of targets from which on the overview has a filter.
    private static let filterLimit = 12

    /// Returns the page with the current state in one sentence, the targets, worst first, and the latest incidents.
    func overviewPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let window = try BarWindow(query, snapshot, since: nil)
        let (filter, isKiosk) = (query.text("filter") ?? "", query.text("kiosk") != nil)
        let headline = Headline(snapshot)
        let all = snapshot.ranked
        let shown = filter.isEmpty ? all : all.filter { snapshot.matches($0.target, filter) }
        let times = KnownTimes(self, snapshot, of: shown.count)
        func group(_ entry: (target: String, current: LedgerInterval)) -> String? {
            snapshot.targets[entry.target]?.group
        }
        var groups: [String?] = []
        for entry in shown where !groups.contains(group(entry)) { groups.append(group(entry)) }
        let rows = groups.flatMap { name -> [HTML] in
            let members = shown.filter { group($0) == name }
            let down = members.count { $0.current.state.isOutage }
            let state = down == 0 ? "\(members.count)" : "\(down) of \(members.count) down"
            let heading: HTML = "<li class=\"group\"><b>\(name ?? "Other targets")</b> \(state)</li>"
            return (groups.count > 1 || name != nil ? [heading] : [])
                + members.map { row($0.target, $0.current, window, times, of: shown.count, snapshot) }
        }
        let choices: [BarWindow.Choice] = [.day, .week, .ninetyDays]
        let tabs: HTML? = isKiosk ? nil : window.tabs(choices, filter: filter.isEmpty ? nil : filter)
        let form: HTML? = isKiosk || all.count < Self.filterLimit ? nil : Self.form(filter, window, of: all.count)
        let list: HTML =
            rows.isEmpty ? "<p class=\"empty\">No target matches.</p>" : "<ul class=\"targets\">\(rows)</ul>"
        let notices = snapshot.notices.map { notice -> HTML in "<p class=\"more\">\(notice)</p>" }
        let heads: HTML = """
            <div class="target heads" aria-hidden="true"><span></span><span>target</span><span>last \(window.choice.name)</span>\
            <span>available</span><span>latency, 4\u{a0}h</span><span>now</span><span>state</span></div>
            """
        let incidents: HTML? = isKiosk ? nil : incidentCard(snapshot, OutageFilter(), limit: 8)
        let main: HTML = """
            \(headline.html(snapshot))\(notices)
            <div class="head"><h2 id="targets">Targets</h2>\(form)\(tabs)</div>
            <section class="card" data-part="targets" aria-labelledby="targets">\(heads)\(list)</section>
            \(window.choice == .ninetyDays ? BarWindow.shades : BarWindow.legend)
            \(incidents)
            """
        var layout = Layout(title: headline.sentence, account: headline.account, place: "/", main: main)
        layout.isKiosk = isKiosk
        return layout
    }

    private static func form(_ filter: String, _ window: BarWindow, of count: Int) -> HTML {
        """
        <form class="filter" role="search"><input type="search" name="filter" value="\(filter)" placeholder="Filter \(count) targets" \
        aria-label="Filter targets"><input type="hidden" name="window" value="\(window.choice.rawValue)"><button>Filter</button></form>
        """
    }

    private func row(
        _ name: String,
        _ current: LedgerInterval,
        _ window: BarWindow,
        _ times: KnownTimes,
        of count: Int,
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let (state, known) = (current.state, times.times(of: name, in: window))
        let since = snapshot.accounting.accounts[name]?.ledger.outage?.start ?? current.start
        let isFullyUp = state.account == .up && !state.isDegraded
        let check = snapshot.checkSentence(of: name) ?? StateDescription.explanation(current.reason)?.meaning ?? ""
        let full = StateDescription.sentence(state, of: name)
        let sentence = full.hasPrefix("\(name) ") ? String(full.dropFirst(name.count + 1)) : full
        let reason: HTML? =
            isFullyUp
            ? nil
            : "<small title=\"\(check)\">\(Sign.tag(state.mark))\(state.isDegraded ? check : sentence)</small>"
        let latency = isFullyUp || state.isDegraded ? snapshot.findings[name]?.finding.latency : nil
        return PageParts.target(
            mark: state.mark,
            PageParts.link(to: name),
            summary: "\(snapshot.targets[name]?.summary ?? "")",
            """
            \(window.strip(known, height: 26, of: count, snapshot))\(PageParts.percent(of: known.availability))\
            \(sparkline(of: name, snapshot))<span>\(latency?.latency ?? "–")</span>
            """,
            state: StateDescription.word(state),
            since: snapshot.lasting(since: since),
            reason: reason
        )
    }

    /// Returns the medians of a target's latency in the last four hours as a line.
    private func sparkline(of name: String, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let medians = latencies.medians(of: name, at: snapshot.now, service.checkLog.buckets(of: name)) { from, to in
            (try? buckets(of: name, from: from, to: to, limit: LatencyMemory.count)) ?? []
        }
        guard let highest = medians.compactMap(\.self).max() else { return "<span></span>" }
        var (path, last): (String, (index: Int, y: Int64)?) = ("", nil)
        for (index, median) in medians.enumerated() {
            guard let median else { continue }
            let y = 23 - median.nanoseconds * 20 / max(1, highest.nanoseconds)
            // A missing period interrupts the line.
            if let known = last, index - known.index < 3 {
                path += "l\((index - known.index) * 2 ) \(y - known.y)"
            } else {
                path += "M\(index * 2) \(y)h0"
            }
            last = (index, y)
        }
        return """
            <svg class="spark" viewBox="0 0 96 24" preserveAspectRatio="none" aria-hidden="true"><path d="\(path)"/></svg>
            """
    }
}

/// The medians of the latencies in the last four hours. Thread-safe.
///
/// The history is read once in five minutes, because each page of the overview shows the medians of all targets.
final class LatencyMemory: Sendable {
    /// The number of medians: one for each bucket of five minutes.
    static let count = 48

    private let known = Locked<[String: (start: LedgerInstant, medians: [Duration?])]>([:])

    /// Returns the medians, earliest first; nil for a period without an answer.
    ///
    /// - Parameters:
    ///   - recent: The buckets in memory.
    ///   - read: Reads the buckets within a window.
    func medians(
        of target: String,
        at now: LedgerInstant,
        _ recent: [CheckBucket],
        _ read: (LedgerInstant, LedgerInstant) -> [CheckBucket]
    ) -> [Duration?] {
        let current = CheckBucket(at: now).start
        let first = current - CheckBucket.short * (Self.count - 1)
        var medians = known.withLock { known in known[target].flatMap { $0.start == current ? $0.medians : nil } }
        if medians == nil {
            var found = [Duration?](repeating: nil, count: Self.count - 1)
            for bucket in read(first, current) {
                let index = Int((bucket.start - first).nanoseconds / CheckBucket.short.nanoseconds)
                if found.indices.contains(index) { found[index] = bucket.latency(0.5) }
            }
            known.withLock { known in
                known = known.filter { $0.value.start == current }
                known[target] = (current, found)
            }
            medians = found
        }
        return (medians ?? []) + [recent.last.flatMap { $0.start == current ? $0.latency(0.5) : nil }]
    }
}

extension MonitoringService.Snapshot {
    /// The targets with their current intervals, worst first. Equally bad ones have the order of the configuration.
    var ranked: [(target: String, current: LedgerInterval)] {
        let all = order.compactMap { name in
            accounting.accounts[name].map { (target: name, current: $0.ledger.current) }
        }
        return (0..<5).flatMap { rank in all.filter { Self.rank($0.current.state) == rank } }
    }

    private static func rank(_ state: TargetState) -> Int {
        if state.isOutage { return 0 }
        if state.account == .maintenance || state.isPaused { return 3 }
        return state.account == .unknown ? 1 : state.isDegraded ? 2 : 4
    }

    /// Returns a Boolean value that indicates whether the name, the checks, the group, the description or a tag of a target contains a
    /// text.
    fileprivate func matches(_ target: String, _ text: String) -> Bool {
        let settings = targets[target]
        let texts = [target, settings?.summary, settings?.group, settings?.description].compactMap(\.self)
        return (texts + (settings?.tags ?? [])).joined(separator: " ").lowercased().contains(text.lowercased())
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
        let all = snapshot.order.compactMap { name in
            snapshot.accounting.accounts[name].map { account in
                Entry(
                    name: name,
                    current: account.ledger.current,
                    since: account.ledger.outage?.start ?? account.ledger.current.start
                )
            }
        }
        let entries = all.filter { !$0.state.isPaused }
        let down = entries.filter(\.state.isOutage)
        let unknown = entries.filter { $0.state.account == .unknown }
        let degraded = entries.filter(\.state.isDegraded)
        let affected = [down, unknown, degraded].first { !$0.isEmpty } ?? []
        isDegraded = down.isEmpty && unknown.isEmpty && !degraded.isEmpty
        guard !affected.isEmpty else {
            account = .up
            let unchecked = entries.filter { $0.state.basis != .checks && $0.state.account == .up }
            since = entries.map(\.current.start).max() ?? snapshot.now
            sentence = Self.allUpSentence(entries, unchecked: unchecked.count)
            lead = Self.lead(entries, unchecked) ?? ""
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
                let others: HTML? =
                    affected.allSatisfy { $0.state.account == .them && $0.state.cause != .push }
                    ? " This machine and its provider work." : nil
                lead = "\(Self.names(affected)).\(others)\(unknown)"
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

    /// Returns the sentence for targets that all work. It claims nothing about what is not checked.
    private static func allUpSentence(_ entries: [Entry], unchecked: Int) -> String {
        if entries.isEmpty { return "Nothing is monitored" }
        if unchecked == 0 { return "Everything works" }
        let checked = entries.count - unchecked
        if checked > 0 { return checked == 1 ? "The checked target works" : "All \(checked) checked targets work" }
        let only = entries.count == 1 ? entries[0] : entries.first { $0.name == Self.atLarge }
        guard let only else { return "All \(entries.count) paths are up. Nothing beyond them is checked" }
        return "\(StateDescription.sentence(only.state, of: only.name)). Nothing beyond it is checked"
    }

    private static func lead(_ entries: [Entry], _ unchecked: [Entry]) -> HTML? {
        if entries.isEmpty { return nil }
        if unchecked.isEmpty {
            return entries.count == 1 ? nil : "All \(entries.count) targets answer. Changes appear here immediately."
        }
        let help: HTML = "<a href=\"/help#anchors\">Add an anchor or checks</a>."
        return unchecked.count == entries.count
            ? "The state follows the kernel only. \(help)" : "Only the route is known: \(names(unchecked)). \(help)"
    }

    func html(_ snapshot: MonitoringService.Snapshot) -> HTML {
        let isFullyUp = account == .up && !isDegraded
        return PageParts.hero(
            mark: mark,
            "\(sentence)\(isFullyUp ? "." : "")",
            saying: sentence,
            when: "\(isFullyUp ? "Since " : "since ")\(snapshot.since(since))",
            lead: lead
        )
    }

    private var mark: String { isDegraded ? TargetState.degradedMark : account.rawValue }
}

extension MonitoringService.Snapshot {
    /// The sentence on top of the overview, without its full stop.
    package var headline: String { Headline(self).sentence }
}
