import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// All of one target: its times to scale, how they were spent, its outages.
struct TargetPage {
    let layout: Layout

    /// - Parameters:
    ///   - checks: What its last checks found, the latest first; none where it is not checked.
    ///   - buckets: What those within the window came to.
    init?(
        _ snapshot: MonitoringService.Snapshot,
        _ times: KnownTimes,
        _ name: String,
        _ outages: [Outage],
        _ window: BarWindow,
        checks: [CheckStatus] = [],
        buckets: [CheckBucket] = []
    ) {
        guard let current = snapshot.intervals(of: name).last else { return nil }
        let (account, mark) = (current.state.account, current.state.mark)
        let since = snapshot.books.accounts[name]?.ledger.outage?.start ?? current.start
        let explanation = Words.explanation(current.reason)
        let check = snapshot.checkSentence(of: name)
        let lead: HTML =
            explanation.map { "\($0.meaning) <span class=\"remedy\">\($0.remedy)</span>" }
            ?? check.map { "\($0)" }
            ?? (current.state.basis == .checks
                ? "Known from the kernel and by checks." : "Known from the kernel alone.")
        let spans = BarWindow.Choice.allCases.dropFirst(window.choice == .quarter ? 0 : 1).map { choice -> HTML in
            let window = BarWindow(choice, snapshot)
            let times = times.times(of: name, in: window)
            return """
                <div class="row"><div class="name">\("The last \(choice.name)")</div>\
                \(window.bar(times, height: 40))<div class="state">\(OverviewPage.share(times.availability))</div></div>
                """
        }
        let words = Words.sentence(current.state, of: name)
        let sentence = words.contains(name) ? words : "\(name): \(words)"
        let main: HTML = """
            <section class="hero t-\(mark)" data-part="hero">\(Sign.svg(mark: mark, size: "big"))<div>\
            <h1 data-say="\(sentence)"><bdi>\(sentence)</bdi> <span class="when">since \
            \(snapshot.time(since)) (\(snapshot.lasting(since: since))).</span></h1><p class="lead">\(lead)</p></div></section>
            <h2 id="times">Its time, to scale</h2>
            <section class="card" data-part="times" aria-labelledby="times">\(spans)</section>\(BarWindow.legend)
            \(CheckPart(checks, buckets).html(snapshot, window))
            <h2 id="outages">Its outages</h2>
            <section class="card" data-part="outages" aria-labelledby="outages">\
            \(OutageList(outages: outages).html(snapshot))</section>
            <p class="more"><a href="/outages?target=\(name.percentEncoded)">All of its outages</a>. For programs: <a href="/v1/targets/\(name.percentEncoded)/intervals"><code>intervals</code></a>, \
            <a href="/v1/targets/\(name.percentEncoded)/availability"><code>availability</code></a>, \
            <a href="/v1/targets/\(name.percentEncoded)/checks"><code>checks</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/targets", main: main)
    }
}
