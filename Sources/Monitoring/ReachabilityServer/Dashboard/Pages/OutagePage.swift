import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// What happened in one outage, step by step.
struct OutagePage {
    let layout: Layout

    /// - Parameter all: Those that may have fallen with it.
    init(
        _ snapshot: MonitoringService.Snapshot,
        _ times: KnownTimes,
        _ explained: ExplainedOutage,
        _ all: [Outage]
    ) {
        let outage = explained.outage
        let id = outage.id
        let deciding = outage.deciding(at: snapshot.now)
        let (account, isOpen) = (deciding.state.account, outage.end == nil)
        let words =
            isOpen ? Words.sentence(deciding.state, of: outage.target) : Words.past(deciding.state, of: outage.target)
        let length: HTML = isOpen ? snapshot.lasting(since: outage.start) : "\(outage.duration(at: snapshot.now).units)"
        let explanation = Words.explanation(deciding.reason)
        let main: HTML = """
            <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))<div>\
            <h1 data-say="\(words)">\(words) <span class="when">for \(length)\(isOpen ? ", and goes on" : "").</span></h1>\
            <p class="lead">\(explanation?.meaning ?? explained.checkSentence ?? "") <span class="remedy">\(isOpen ? explanation?.remedy ?? "" : "")</span></p>\
            </div></section>
            <h2 id="scale">To scale</h2>
            <section class="card" data-part="scale" aria-labelledby="scale"><div class="inside">\
            \(Self.picture(outage, times, snapshot))</div></section>\(BarWindow.legend)
            <div class="two"><div><h2 id="steps">Step by step</h2>
            <section class="card" data-part="steps" aria-labelledby="steps">\(Self.steps(explained, times, snapshot))</section></div>
            <div><h2 id="facts">What is known</h2>
            <section class="card" data-part="facts" aria-labelledby="facts">\(Self.facts(explained, all, snapshot))</section></div></div>
            \(NotePart.html(explained.notes, snapshot))\(Self.evidence(explained, snapshot))
            <p class="more"><button data-copy="/v1/outages/\(id.percentEncoded)" hidden>Copy the report</button> \
            For programs: <a href="/v1/outages/\(id.percentEncoded)"><code>/v1/outages/\(id)</code></a></p>
            """
        layout = Layout(title: words, account: isOpen ? account : .up, place: "/outages", main: main)
    }

    /// The outage in the middle, with half its length before and after.
    private static func picture(
        _ outage: Outage,
        _ times: KnownTimes,
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let half = Duration.nanoseconds(max(outage.duration(at: snapshot.now).nanoseconds / 2, 1_000_000))
        let (from, to) = (outage.start - half, min(snapshot.now, (outage.end ?? snapshot.now) + half))
        let intervals = times.intervals(of: outage.target, from: from, to: to)
        let label = TimeBar.label("the outage", Availability(of: intervals, from: from, to: to))
        return """
            <div>\(TimeBar(from: from, to: to, height: 56).svg(intervals, label: label))\
            <div class="axis"><span>\(snapshot.time(from, .exact))</span><span>\(snapshot.time(to, .exact))</span></div></div>
            """
    }

    private static func steps(
        _ explained: ExplainedOutage,
        _ times: KnownTimes,
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let outage = explained.outage
        let moment = Duration.nanoseconds(1)
        let (from, to) = (outage.start - moment, (outage.end ?? snapshot.now) + moment)
        let intervals = times.intervals(of: outage.target, from: from, to: to)
        let before = intervals.last { $0.end == outage.start }
        let after = outage.end.flatMap { end in intervals.first { $0.start == end } }
        let all = (before.map { [$0] } ?? []) + outage.intervals + (after.map { [$0] } ?? [])
        let items = all.map { interval -> HTML in
            let inside = interval.start >= outage.start && interval != after
            let length: HTML =
                interval.end == nil
                ? snapshot.lasting(since: interval.start) : "\(interval.duration(at: snapshot.now).units)"
            let meaning = Words.explanation(interval.reason)?.meaning ?? ""
            let evidence: HTML? = interval.reason.map { "<span class=\"soft\">\(meaning) <code>\($0)</code></span>" }
            let words =
                interval.end == nil
                ? Words.sentence(interval.state, of: outage.target) : Words.past(interval.state, of: outage.target)
            let actor: HTML? =
                interval.start == outage.start
                ? nil : explained.actors[interval.start].map { "<span class=\"soft\">by <bdi>\($0.text)</bdi></span>" }
            let state: HTML = inside ? "<b>\(words)</b>" : "<span>\(words)</span>"
            return """
                <li>\(Sign.svg(interval.state.account))\(snapshot.time(interval.start, .exact))\
                \(state)<span class="long">\(length)</span>\(evidence)\(actor)</li>
                """
        }
        return "<ol class=\"steps\">\(items)</ol>"
    }

    /// What the kernel said before, meanwhile and after, as `reachability why` prints it.
    private static func evidence(_ explained: ExplainedOutage, _ snapshot: MonitoringService.Snapshot) -> HTML {
        let chains = explained.evidence.map { record -> HTML in
            let steps = record.steps.map { step -> HTML in
                let remedy: HTML? = step.remedy.map { "<span class=\"soft\">\($0)</span>" }
                return
                    "<li><b>\(step.kind)</b> <span>\(step.state)</span> <span class=\"said\">\(step.summary)\(remedy)</span></li>"
            }
            let phase = record.phase(of: explained.outage)
            return """
                <section class="card"><h3>\(phase) · \(snapshot.time(record.instant, .exact))</h3><ul class="chain">\(steps)</ul></section>
                """
        }
        let heading: HTML? = chains.isEmpty ? nil : "<h2 id=\"evidence\">\(heading(explained))</h2>"
        let missing: HTML? = explained.missing.map { "<p class=\"soft\">\($0)</p>" }
        return "<div data-part=\"evidence\">\(heading)\(chains)\(missing)</div>"
    }

    private static func heading(_ explained: ExplainedOutage) -> HTML {
        let isChecked = explained.outage.intervals.contains { $0.state.basis == .checks }
        return isChecked ? "What the kernel said, and what checks found" : "What the kernel said"
    }

    private static func facts(
        _ explained: ExplainedOutage,
        _ all: [Outage],
        _ snapshot: MonitoringService.Snapshot
    ) -> HTML {
        let outage = explained.outage
        let deciding = outage.deciding(at: snapshot.now)
        let end: HTML = outage.end.map { snapshot.time($0, .exact) } ?? "it goes on"
        let isExact = outage.uncertainty < .milliseconds(1)
        let precision = isExact ? "to the millisecond" : "give or take \(outage.uncertainty.units)"
        let basis = deciding.state.basis == .checks ? "the kernel, and active checks" : "the kernel alone"
        let ending = outage.ending.map { ending in
            switch ending {
            case .up: "\(outage.target) is up again"
            case .unknown: "nobody observed any more"
            case .maintenance: "maintenance began"
            }
        }
        let others = all.filter { other in
            other.id != outage.id && other.start < (outage.end ?? snapshot.now)
                && (other.end ?? snapshot.now) > outage.start
        }
        let links: [HTML] = others.prefix(12).map {
            "<a href=\"\(DashboardPage.outage($0.id).link)\"><bdi>\($0.target)</bdi></a> "
        }
        let fell: HTML = links.isEmpty ? "nothing else fell" : "\(links)"
        return """
            <dl class="facts"><dt>Target</dt><dd><a href="\(DashboardPage.target(outage.target).link)">\
            <bdi>\(outage.target)</bdi></a></dd>\
            <dt>Whose fault</dt><dd>\(Sign.pill(deciding.state.account)) <code>\(deciding.state.description)</code></dd>\
            \(explained.actor.map { "<dt>Who did it</dt><dd><bdi>\($0.text)</bdi></dd>" as HTML })\
            <dt>Began</dt><dd>\(snapshot.time(outage.start, .exact))</dd><dt>Ended</dt><dd>\(end)</dd>\
            <dt>How long</dt><dd>\(outage.duration(at: snapshot.now).units), \(precision)</dd>\
            <dt>Known from</dt><dd>\(basis)</dd>\(ending.map { "<dt>Ended by</dt><dd>\($0)</dd>" as HTML })\
            <dt>With it</dt><dd>\(fell)</dd></dl>
            """
    }
}

/// What people wrote about an outage; nothing where nobody did.
private enum NotePart {
    static func html(_ notes: [OutageNote], _ snapshot: MonitoringService.Snapshot) -> HTML {
        if notes.isEmpty { return "<div data-part=\"notes\"></div>" }
        let items = notes.map { note -> HTML in
            let lines = note.text.split(at: "\n", omittingEmptySubsequences: false).map { line -> HTML in
                "<bdi>\(String(line))</bdi><br>"
            }
            return """
                <li><b><bdi>\(note.author)</bdi></b> \(snapshot.time(note.instant)) <span class="said">\(lines)</span></li>
                """
        }
        return """
            <div data-part="notes"><h2 id="notes">Notes</h2>
            <section class="card" aria-labelledby="notes"><ul class="chain">\(items)</ul></section></div>
            """
    }
}
