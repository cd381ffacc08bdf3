import LinuxSupport
import ReachabilityLedger
import ReachabilityService

extension API {
    /// The maximum number of buckets of a chart: 14 days of five minutes, and a year of hours.
    private static let bucketLimit = 14_000

    /// The link to all outages on the page for a missing object.
    static let knownOutages: HTML = "<a href=\"/outages\">all outages</a>"

    /// Returns the page of a target: its states over time, its checks and its outages.
    func targetPage(_ query: Query, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> Layout {
        let (name, times) = (query["name"], KnownTimes(self, snapshot, of: 1))
        let window = try BarWindow(query, snapshot, since: service.start)
        guard let current = snapshot.intervals(of: name).last else {
            return .missing("There is no target \(name)", list: Self.knownOutages)
        }
        let buckets = try? buckets(
            of: name,
            from: window.from - CheckBucket.short,
            to: window.to,
            limit: Self.bucketLimit
        )
        let known = times.times(of: name, in: window)
        let checks = CheckPart(service.checkLog.latest(of: name))
        let end = service.checkLog.latest(of: name).first?.finding.certificateEnd
        let chart = LatencyChart(buckets ?? [], known.picture.filter(\.state.isOutage), window)
        let (account, mark) = (current.state.account, current.state.mark)
        let since = snapshot.accounting.accounts[name]?.ledger.outage?.start ?? current.start
        let explanation = StateDescription.explanation(current.reason)
        let check = snapshot.checkSentence(of: name)
        let lead: HTML =
            explanation.map { "\($0.meaning) <span class=\"remedy\">\($0.remedy)</span>" }
            ?? check.map { "\($0)" }
            ?? (current.state.basis == .checks
                ? "Based on the kernel and checks."
                : "Nothing beyond it is checked. <a href=\"/help#anchors\">Add an anchor or checks</a>.")
        let spans = BarWindow.Choice.allCases.dropFirst(window.choice == .quarter ? 0 : 1).map { choice -> HTML in
            let window = BarWindow(choice, snapshot)
            let times = times.times(of: name, in: window)
            return PageParts.row(
                "The last \(choice.name)",
                window.bar(times),
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
        let settings = snapshot.targets[name]
        let labels = ([settings?.group].compactMap(\.self) + (settings?.tags ?? [])).map { label -> HTML in
            "<a class=\"pill\" href=\"\(Query.link("/", [("filter", label)]))\">\(label)</a> "
        }
        let about: HTML? =
            settings?.description == nil && labels.isEmpty
            ? nil : "<p class=\"lead\">\(labels)<bdi>\(settings?.description ?? "")</bdi></p>"
        let path = "/v1/targets/\(name.percentEncoded)"
        let main: HTML = """
            \(hero)\(about)\(forms(of: name, settings, isPaused: current.state.isPaused, query.request))
            \(chart.html(snapshot, certificateEnd: end))\(checks.html(snapshot))
            \(PageParts.card("times", "States over time", "\(spans)"))\(BarWindow.legend)
            \(incidentCard(snapshot, OutageFilter(target: name), limit: 20))
            <p class="more">API: \
            <a href="\(path)/intervals"><code>intervals</code></a>, \
            <a href="\(path)/availability"><code>availability</code></a>, <a href="\(path)/checks"><code>checks</code></a></p>
            """
        return Layout(title: sentence, account: account, place: "/targets", main: main)
    }
}

/// The part of the page about the latest checks.
private struct CheckPart {
    private let checks: [CheckStatus]

    /// - Parameter checks: The latest results, latest first.
    init(_ checks: [CheckStatus]) {
        self.checks = checks
    }

    /// Returns the card of the checks; empty without checks.
    func html(_ snapshot: MonitoringService.Snapshot) -> HTML {
        if checks.isEmpty { return "" }
        let items = checks.prefix(8).map { check -> HTML in
            let mark = Attributor.state(of: Observation(path: .reachable, check: check.finding.observation)).mark
            let time: HTML? = check.finding.latency.map { "<span class=\"long\">\($0.latency)</span>" }
            let sureness: HTML? =
                check.finding.confidence == "proven" ? nil : "<span class=\"soft\">\(check.finding.confidence)</span>"
            return """
                <li>\(Sign.svg(mark: mark))\(snapshot.time(check.ended))<span>\(check.finding.sentence.inWords)</span>\(time)\(sureness)</li>
                """
        }
        return PageParts.card(
            "checks",
            "Latest checks",
            "<ol class=\"steps\">\(Array(items))</ol>",
            attributes: " data-every=\"\(pace)\""
        )
    }

    /// The interval between the latest two checks, in seconds, from 1 to 30. The page is refreshed at this interval.
    private var pace: Int {
        guard checks.count > 1 else { return 5 }
        return min(30, max(1, Int((checks[0].ended - checks[1].ended).components.seconds)))
    }
}

/// A chart of the latencies of checks over time: the median, the range from the 5th to the 95th percentile, failed checks and outages.
struct LatencyChart {
    /// The merged buckets, earliest first.
    private let buckets: [CheckBucket]
    private let outages: [LedgerInterval]
    private let window: BarWindow

    private static let (width, height, lane) = (720.0, 180.0, 10.0)

    /// - Parameter outages: The outages within the window, in any order.
    init(_ buckets: [CheckBucket], _ outages: [LedgerInterval], _ window: BarWindow) {
        // Buckets that would be drawn within two pixels are merged.
        let length = max(CheckBucket.short, (window.to - window.from) / 360)
        var merged: [CheckBucket] = []
        for bucket in buckets.sorted(by: { $0.start < $1.start }) {
            var whole = CheckBucket(at: bucket.start, length: max(length, bucket.length))
            if let last = merged.last, last.start == whole.start { whole = merged.removeLast() }
            whole.merge(bucket)
            merged.append(whole)
        }
        (self.buckets, self.outages, self.window) = (merged, outages, window)
    }

    /// Returns the card of the chart; empty without checks.
    ///
    /// - Parameter end: The end of the validity of the target's certificate, since 1970; nil without TLS.
    func html(_ snapshot: MonitoringService.Snapshot, certificateEnd end: Duration?) -> HTML {
        if buckets.isEmpty { return "" }
        let certificate = end.map { end -> HTML in
            let days = Int((end - snapshot.clock.now).components.seconds.floored(by: 86400))
            let mark = days < 0 ? "them" : days < 14 ? "degraded" : "up"
            let text =
                days < 0 ? "certificate expired" : "certificate valid for \(days == 1 ? "one day" : "\(days) days")"
            return "<span class=\"pill t-\(mark)\">\(Sign.svg(mark: mark))\(text)</span>"
        }
        let step = Self.step(for: buckets.compactMap { $0.latency(0.95) }.max() ?? .milliseconds(1))
        let scale = (0...4).reversed().map { "<span>\((step * $0).latency)</span>" as HTML }
        let form: PageClock.MomentForm = window.choice.length <= .seconds(86400) ? .minute : .day
        let axis = (0...4).map { quarter in
            snapshot.clock.time(snapshot.calendar.wall(at: window.from + (window.to - window.from) * quarter / 4), form)
        }
        var all = CheckBucket(at: window.from)
        for bucket in buckets { all.merge(bucket) }
        let failed = all.failures.values.reduce(0, +)
        let figures =
            all.latency(0.5).map { "median \($0.latency), 95 % within \((all.latency(0.95) ?? $0).latency), " } ?? ""
        let lost = all.echoes.map { echoes in
            "\(echoes.lost) of \(echoes.sent) pings lost, \(echoes.jitter.map { "jitter \($0.latency), " } ?? "")"
        }
        let sum = "\(figures)\(lost ?? "")\(failed) of \(all.count) checks failed"
        return """
            <div class="head"><h2 id="latency">Latency</h2>\(certificate)\(window.tabs([.hour, .day, .week, .month, .ninetyDays, .year]))</div>
            <section class="card" data-part="latency" aria-labelledby="latency"><figure class="chart" tabindex="0" data-points="\(points)" \
            data-from="\(snapshot.time(window.from).text)" data-length="\(Int(window.choice.length.components.seconds))" \
            role="group" aria-label="Latency in the last \(window.choice.name): \(sum)">\
            <figcaption><output>\(sum)</output><span class="soft">line: median · band: 5th to 95th percentile · at the bottom: failed checks · \
            shaded: outages</span></figcaption><div class="scale" aria-hidden="true">\(scale)</div>\
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height + Self.lane))" preserveAspectRatio="none" aria-hidden="true">\
            \(shades)<path class="grid" d="\(grid)"/>\(curves(to: step * 4))<path class="failed" d="\(failures)"/>\
            <path class="cursor"/></svg><div class="axis" aria-hidden="true">\(axis)</div></figure></section>
            """
    }

    /// Returns the distance of two lines of the scale: the smallest of 1, 2, 2.5 and 5 times a power of ten of which four cover a latency.
    static func step(for highest: Duration) -> Duration {
        var power: Int64 = 1000
        while true {
            for factor in [10, 20, 25, 50] as [Int64] where .nanoseconds(power * factor / 10 * 4) >= highest {
                return .nanoseconds(power * factor / 10)
            }
            power *= 10
        }
    }

    private func x(_ instant: LedgerInstant) -> Double {
        let share =
            Double((instant - window.from).ledgerNanoseconds) / Double(max(1, (window.to - window.from).nanoseconds))
        return min(1, max(0, share)) * Self.width
    }

    private var grid: String {
        (0...4).map { "M0 \(Int(Self.height) * $0 / 4)h\(Int(Self.width))" }.joined()
    }

    private var shades: HTML {
        let path = outages.map { outage in
            let (left, right) = (x(outage.start), x(outage.end ?? window.to))
            return "M\(left.short) 0h\((right - left).short)v\(Int(Self.height))H\(left.short)z"
        }
        return "<path class=\"gone\" d=\"\(path.joined())\"/>"
    }

    /// The failed checks, as bars whose height is the square root of their share.
    private var failures: String {
        buckets.map { bucket in
            let failed = bucket.failures.values.reduce(0, +)
            guard failed > 0 else { return "" }
            let (left, right) = (x(bucket.start), x(bucket.start + bucket.length))
            let height = Self.lane * (Double(failed) / Double(max(1, bucket.count))).squareRoot()
            let bottom = Int(Self.height + Self.lane)
            return "M\(left.short) \(bottom)h\((right - left).short)V\((Double(bottom) - height).short)H\(left.short)z"
        }.joined()
    }

    /// Returns the band and the line. A time without answers interrupts them.
    private func curves(to highest: Duration) -> HTML {
        func y(_ latency: Duration) -> String {
            (Self.height * (1 - Double(latency.nanoseconds) / Double(max(1, highest.nanoseconds)))).short
        }
        var (band, line) = ("", "")
        var run: [CheckBucket] = []
        func finish() {
            guard let first = run.first else { return }
            let points = run.map { bucket -> (x: String, low: String, middle: String, high: String) in
                let middle = x(bucket.start + bucket.length / 2).short
                let (low, median, high) = (bucket.latency(0.05), bucket.latency(0.5), bucket.latency(0.95))
                return (middle, y(low ?? .zero), y(median ?? .zero), y(high ?? .zero))
            }
            band +=
                "M" + points.map { "\($0.x) \($0.high)" }.joined(separator: "L")
                + "L" + points.reversed().map { "\($0.x) \($0.low)" }.joined(separator: "L") + "z"
            line += "M" + points.map { "\($0.x) \($0.middle)" }.joined(separator: "L")
            if run.count == 1 { line += "H\((x(first.start + first.length / 2) + 1).short)" }
            run = []
        }
        for bucket in buckets {
            if let last = run.last, bucket.start - last.start > last.length * 3 || bucket.slowest == nil { finish() }
            if bucket.slowest != nil { run.append(bucket) }
        }
        finish()
        return "<path class=\"band\" d=\"\(band)\"/><path class=\"median\" d=\"\(line)\"/>"
    }

    /// The values for the script of the page: seconds since the start of the window, length in seconds, percentiles in microseconds, checks,
    /// failed checks.
    private var points: String {
        buckets.map { bucket in
            let quantiles = [0.05, 0.5, 0.95].map { share in
                bucket.latency(share).map { String($0.nanoseconds / 1000) } ?? ""
            }
            let failed = bucket.failures.values.reduce(0, +)
            let numbers = ["\((bucket.start - window.from).components.seconds)", "\(bucket.length.components.seconds)"]
            return (numbers + quantiles + ["\(bucket.count)", "\(failed)"]).joined(separator: ",")
        }.joined(separator: ";")
    }
}

extension Double {
    /// The number with at most one decimal place.
    fileprivate var short: String { Int64((self * 10).rounded()).decimal(places: 1) }
}

extension Duration {
    /// The duration as a latency, such as `0.42 ms`, `18 ms` or `1.2 s`.
    var latency: String {
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
        return findings[target]?.current?.sentence.inWords.asSentence
    }
}

extension ExplainedOutage {
    /// The sentence of the check that explains the outage; nil without one.
    var checkSentence: String? {
        guard outage.intervals.contains(where: { $0.state.basis == .checks }) else { return nil }
        let during = evidence.filter { $0.phase(of: outage) == "during" }
        return during.lazy.compactMap { record in
            record.steps.last.flatMap { $0.kind == "verdict" ? $0.summary.verdict.inWords.asSentence : nil }
        }.first
    }
}

extension String {
    /// The sentence of a verdict without its place, confidence and costs: `service: it refuses the connection, proven (3.06 s, 10 packets)`.
    fileprivate var verdict: String {
        let start = firstRange(of: ": ").flatMap { self[..<$0.lowerBound].allSatisfy(\.isLetter) ? $0.upperBound : nil }
        let ends = ["proven", "likely", "suspected"].compactMap { firstRange(of: ", \($0) (")?.lowerBound }
        return String(self[(start ?? startIndex)..<max(start ?? startIndex, ends.min() ?? endIndex)])
    }

    /// The text with a full stop. The first letter is capitalized if the text begins with a word, not with a name or an address.
    var asSentence: String {
        let isWord = prefix { $0 != " " }.allSatisfy(\.isLetter)
        return (isWord ? prefix(1).uppercased() + dropFirst() : self) + "."
    }
}
