import LinuxSupport
import ReachabilityLedger
import ReachabilityService

/// How the service itself is.
struct ServicePage {
    let layout: Layout

    init(
        _ snapshot: MonitoringService.Snapshot,
        _ start: LedgerInstant,
        _ version: String,
        _ statistics: WebStatistics,
        _ listeners: Int,
        _ notifiers: [NotifierStatus]
    ) {
        let usage = ProcessUsage.current
        let memory: HTML = usage.map { "\(Int($0.resident) / 1_048_576)\u{a0}MiB" } ?? "unknown"
        let work: HTML = usage.map { "\($0.processor.units) of a processor" } ?? "unknown"
        let main: HTML = """
            <section class="hero t-up" data-part="hero">\(Sign.svg(.up, size: "big"))<div><h1>The service observes. \
            <span class="when">Since \(snapshot.time(start)) (\(snapshot.lasting(since: start))).</span></h1>\
            <p class="lead">It hears from the kernel and sleeps until it does.</p></div></section>
            <h2 id="facts">What it is</h2>
            <section class="card" data-part="facts" aria-labelledby="facts"><dl class="facts"><dt>Version</dt><dd>\(version)</dd>\
            <dt>Targets</dt><dd>\(snapshot.books.accounts.count)</dd><dt>Events</dt><dd>\(Int(snapshot.books.lastNumber))</dd>\
            <dt>Memory</dt><dd>\(memory)</dd><dt>Used so far</dt><dd>\(work)</dd></dl></section>
            <h2 id="clients">Who listens</h2>
            <section class="card" data-part="clients" aria-labelledby="clients"><dl class="facts"><dt>Streams</dt>\
            <dd>\(listeners)</dd><dt>Connections</dt><dd>\(statistics.connections)</dd>\
            <dt>Sent away</dt><dd>\(Int(statistics.refused)) for want of room, \(Int(statistics.slowStreams)) that read too slowly</dd>\
            </dl></section>\(ToldPart.html(notifiers))
            <p class="more">For programs: <a href="/v1/status"><code>/v1/status</code></a>, <a href="/metrics"><code>/metrics</code></a>, \
            <a href="/readyz"><code>/readyz</code></a></p>
            """
        layout = Layout(title: "The service", account: .up, place: "/service", main: main)
    }
}
