import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The link to all outages on the page for a missing object.
    static let knownOutages: HTML = "<a href=\"/outages\">all outages</a>"

    /// Returns the page of a target: its states over time, its checks and its outages.
    func targetPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let (name, times) = (query["name"], KnownTimes(self, snapshot, of: 1))
        let window = try BarWindow(query, snapshot, since: service.start)
        guard let current = snapshot.intervals(of: name).last else {
            return .missing("There is no target \(name)", list: Self.knownOutages)
        }
        let buckets = try? buckets(of: name, from: window.from, to: window.to, limit: 10_000)
        let checks = CheckPart(service.checkLog.latest(of: name), buckets ?? [])
        let outages = latest(snapshot, OutageFilter(target: name), limit: 50)
        let (account, mark) = (current.state.account, current.state.mark)
        let since = snapshot.accounting.accounts[name]?.ledger.outage?.start ?? current.start
        let explanation = StateDescription.explanation(current.reason)
        let check = snapshot.checkSentence(of: name)
        let lead: HTML =
            explanation.map { "\($0.meaning) <span class=\"remedy\">\($0.remedy)</span>" }
            ?? check.map { "\($0)" }
            ?? (current.state.basis == .checks
                ? "Based on the kernel and checks." : "Based on the kernel only, without checks.")
        let spans = BarWindow.Choice.allCases.dropFirst(window.choice == .quarter ? 0 : 1).map { choice -> HTML in
            let window = BarWindow(choice, snapshot)
            let times = times.times(of: name, in: window)
            return PageParts.row(
                "The last \(choice.name)",
                window.bar(times, height: 40),
                state: PageParts.share(times.availability)
            )
        }
        let description = StateDescription.sentence(current.state, of: name)
        let sentence = description.contains(name) ? description : "\(name): \(description)"
        let hero = PageParts.hero(
            mark: mark,
            "<bdi>\(sentence)</bdi>",
            saying: sentence,
            when: "since \(snapshot.since(since))",
            lead: lead
        )
        let path = "/v1/targets/\(name.percentEncoded)"
        let main: HTML = """
            \(hero)
            \(PageParts.card("times", "States over time", "\(spans)"))\(BarWindow.legend)
            \(checks.html(snapshot, window))
            \(PageParts.card("outages", "Outages", snapshot.list(outages)))
            <p class="more"><a href="\(OutageChoice(target: name).link())">All outages of this target</a>. API: \
            <a href="\(path)/intervals"><code>intervals</code></a>, \
            <a href="\(path)/availability"><code>availability</code></a>, <a href="\(path)/checks"><code>checks</code></a></p>
            """
        return Layout(title: sentence, account: account, place: "/targets", main: main)
    }
}

/// The part of the page about checks: the latest results, and the latencies over time.
private struct CheckPart {
    private let checks: [CheckStatus]
    private let buckets: [CheckBucket]

    /// - Parameter checks: The latest results, latest first.
    init(_ checks: [CheckStatus], _ buckets: [CheckBucket]) {
        (self.checks, self.buckets) = (checks, buckets.sorted { $0.start < $1.start })
    }

    /// Returns the card of the checks; empty without checks.
    func html(_ snapshot: MonitoringService.Snapshot, _ window: BarWindow) -> HTML {
        if checks.isEmpty { return "" }
        let items = checks.prefix(8).map { check -> HTML in
            let mark = Attributor.state(of: Observation(path: .reachable, check: check.finding.observation)).mark
            let time: HTML? = check.finding.latency.map { "<span class=\"long\">\($0.short)</span>" }
            let sureness: HTML? =
                check.finding.confidence == "proven" ? nil : "<span class=\"soft\">\(check.finding.confidence)</span>"
            return """
                <li>\(Sign.svg(mark: mark))\(snapshot.time(check.ended))<span>\(check.finding.sentence)</span>\(time)\(sureness)</li>
                """
        }
        return PageParts.card(
            "checks",
            "Checks \(window.tabs)",
            "\(band(window))<ol class=\"steps\">\(Array(items))</ol>",
            attributes: " data-every=\"\(pace)\""
        )
    }

    /// The interval between the latest two checks, in seconds, from 1 to 30. The page is refreshed at this interval.
    private var pace: Int {
        guard checks.count > 1 else { return 5 }
        return min(30, max(1, Int((checks[0].ended - checks[1].ended).components.seconds)))
    }

    /// Merges buckets that would be drawn on the same pixel.
    private static func merged(_ buckets: [CheckBucket], _ window: BarWindow) -> [CheckBucket] {
        let length = max(CheckBucket.short, (window.to - window.from) / 360)
        var merged: [CheckBucket] = []
        for bucket in buckets {
            var whole = CheckBucket(at: bucket.start, length: max(length, bucket.length))
            if let last = merged.last, last.start == whole.start { whole = merged.removeLast() }
            whole.merge(bucket)
            merged.append(whole)
        }
        return merged
    }

    /// Returns a chart of latencies over time: the range from the 5th to the 95th percentile, and the median. Nil without latencies.
    private func band(_ window: BarWindow) -> HTML? {
        let whole = Double((window.to - window.from).nanoseconds)
        let answered = Self.merged(buckets.filter { $0.slowest != nil }, window)
        let highest = answered.compactMap { $0.latency(0.95) }.max()
        guard let highest, highest > .zero, whole > 0 else { return nil }
        let parts = answered.compactMap { bucket -> HTML? in
            guard let low = bucket.latency(0.05), let middle = bucket.latency(0.5), let high = bucket.latency(0.95)
            else {
                return nil
            }
            func down(_ latency: Duration) -> Double { 1 - Double(latency.nanoseconds) / Double(highest.nanoseconds) }
            let left = max(0, Double((bucket.start - window.from).nanoseconds) / whole)
            let right = min(1, Double((bucket.start + bucket.length - window.from).nanoseconds) / whole)
            guard right > left else { return nil }
            let (x, width) = (left.percentText, (right - left).percentText)
            let height = max(0.02, down(low) - down(high))
            return """
                <rect class="s-up" x="\(x)%" width="\(width)%" y="\(down(high).percentText)%" height="\(height.percentText)%"/>\
                <rect class="median" x="\(x)%" width="\(width)%" y="\(min(0.97, down(middle)).percentText)%" height="2"/>
                """
        }
        var all = CheckBucket(at: window.from)
        for bucket in answered { all.merge(bucket) }
        let figures = "median \((all.latency(0.5) ?? .zero).short), 95 % within \((all.latency(0.95) ?? .zero).short)"
        let label = "Latency in the last \(window.choice.name): \(figures)"
        return """
            <div class="inside"><p class="soft">\(label), at most \((all.slowest ?? .zero).short)</p>\
            <svg class="bar" height="60" width="100%" role="img" aria-label="\(label)">\(parts)</svg></div>
            """
    }
}

extension Duration {
    /// The duration as a latency, such as `0.42 ms`, `18 ms` or `1.2 s`.
    fileprivate var short: String {
        let microseconds = nanoseconds / 1000
        if microseconds < 10_000 { return (microseconds / 10).decimal(places: 2) + "\u{a0}ms" }
        if microseconds < 1_000_000 { return "\(microseconds / 1000)\u{a0}ms" }
        return (microseconds / 100_000).decimal(places: 1) + "\u{a0}s"
    }
}

extension MonitoringService.Snapshot {
    /// Returns the sentence of the check that determines the state of a target; nil if the kernel's path determines it.
    func checkSentence(of target: String) -> String? {
        guard accounting.accounts[target]?.ledger.current.state.basis == .checks else { return nil }
        return findings[target]?.current?.sentence.asSentence
    }
}

extension ExplainedOutage {
    /// The sentence of the check that explains the outage; nil without one.
    var checkSentence: String? {
        guard outage.intervals.contains(where: { $0.state.basis == .checks }) else { return nil }
        let during = evidence.filter { $0.phase(of: outage) == "during" }
        return during.lazy.compactMap { record in
            record.steps.last.flatMap { $0.kind == "verdict" ? $0.summary.asSentence : nil }
        }.first
    }
}

extension String {
    /// The text with a full stop. The first letter is capitalized if the text begins with a word, not with a name or an address.
    fileprivate var asSentence: String {
        let isWord = prefix { $0 != " " }.allSatisfy(\.isLetter)
        return (isWord ? prefix(1).uppercased() + dropFirst() : self) + "."
    }
}
