import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// The checks of a target: what the last ones found, and how long it took to answer, to scale.
struct CheckPart {
    private let checks: [CheckStatus]
    private let buckets: [CheckBucket]

    /// - Parameters:
    ///   - checks: The latest first.
    ///   - buckets: In any order.
    init(_ checks: [CheckStatus], _ buckets: [CheckBucket]) {
        (self.checks, self.buckets) = (checks, buckets.sorted { $0.start < $1.start })
    }

    /// Nothing where nothing is checked.
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
        return """
            <h2 id="checks">Its checks \(window.tabs)</h2>
            <section class="card" data-part="checks" data-every="\(pace)" aria-labelledby="checks">\(band(window))<ol class="steps">\(items)</ol></section>
            """
    }

    /// In so many seconds there is a new one, as far as the last two tell.
    private var pace: Int {
        guard checks.count > 1 else { return 5 }
        return min(30, max(1, Int((checks[0].ended - checks[1].ended).components.seconds)))
    }

    /// No more of them than can be seen.
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

    /// How long answers took: from the quickest twentieth to the slowest, and the median.
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
        let label = "Answers in the last \(window.choice.name): \(figures)"
        return """
            <div class="inside"><p class="soft">\(label), at most \((all.slowest ?? .zero).short)</p>\
            <svg class="bar" height="60" width="100%" role="img" aria-label="\(label)">\(parts)</svg></div>
            """
    }
}

extension Duration {
    /// How long an answer took: `0.42 ms`, `18 ms`, `1.2 s`.
    fileprivate var short: String {
        let microseconds = nanoseconds / 1000
        if microseconds < 10_000 { return (microseconds / 10).decimal(places: 2) + "\u{a0}ms" }
        if microseconds < 1_000_000 { return "\(microseconds / 1000)\u{a0}ms" }
        return (microseconds / 100_000).decimal(places: 1) + "\u{a0}s"
    }
}

extension MonitoringService.Snapshot {
    /// What the check says in one sentence that a target's state goes by; nil where that is the kernel's word.
    func checkSentence(of target: String) -> String? {
        guard books.accounts[target]?.ledger.current.state.basis == .checks else { return nil }
        return findings[target]?.told?.sentence.asSentence
    }
}

extension ExplainedOutage {
    /// What the check said that explains the outage.
    var checkSentence: String? {
        guard outage.intervals.contains(where: { $0.state.basis == .checks }) else { return nil }
        let during = evidence.filter { $0.phase(of: outage) == "during" }
        return during.lazy.compactMap { record in
            record.steps.last.flatMap { $0.kind == "verdict" ? $0.summary.asSentence : nil }
        }.first
    }
}

extension String {
    /// With its end, and a capital where it begins with a word, not with a name or an address.
    fileprivate var asSentence: String {
        let isWord = prefix { $0 != " " }.allSatisfy(\.isLetter)
        return (isWord ? prefix(1).uppercased() + dropFirst() : self) + "."
    }
}
