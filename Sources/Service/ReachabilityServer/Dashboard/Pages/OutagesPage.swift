import LinuxPrimitives
import ReachabilityLedger
import ReachabilityService

/// The outages of all targets, the latest first, and what they came to.
struct OutagesPage {
    let layout: Layout

    /// - Parameter outages: The latest first.
    init(_ snapshot: MonitoringService.Snapshot, _ outages: [Outage]) {
        let open = outages.filter { $0.end == nil }.count
        let account = outages.first { $0.end == nil }?.deciding(at: snapshot.now).state.account ?? .up
        let count = outages.count == 1 ? "One outage" : outages.isEmpty ? "No outage" : "\(outages.count) outages"
        let now = open == 0 ? "none lasts" : open == 1 ? "one lasts" : "\(open) last"
        let sentence = outages.isEmpty ? "No outage so far" : "\(count), \(now)"
        let list = OutageList(outages: outages).html(snapshot)
        let main: HTML = """
            <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))<div>\
            <h1 data-say="\(sentence)">\(sentence).</h1><p class="lead">An outage is one unbroken time in which a target is not \
            up. The cause is that of its longest part.</p></div></section>
            <h2 id="causes">Where it went wrong</h2>
            <section class="card" data-part="causes" aria-labelledby="causes">\(Self.causes(outages, snapshot))</section>
            <h2 id="list">All of them</h2>
            <section class="card" data-part="list" aria-labelledby="list">\(list)</section>
            <p class="more"><a href="/outages.csv" download>As CSV</a>. For programs: <a href="/v1/outages"><code>/v1/outages</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/outages", main: main)
    }

    /// The time lost to each cause, the most first, as bars to the same scale.
    private static func causes(_ outages: [Outage], _ snapshot: MonitoringService.Snapshot) -> HTML {
        let groups = Dictionary(grouping: outages) { $0.deciding(at: snapshot.now).state }
        let rows = groups.map { state, group in
            (state: state, count: group.count, time: group.reduce(Duration.zero) { $0 + $1.duration(at: snapshot.now) })
        }.sorted { ($1.time, $0.state.description) < ($0.time, $1.state.description) }
        guard let longest = rows.first?.time else { return "<p class=\"empty\">Nothing did.</p>" }
        let items = rows.map { row -> HTML in
            let width = (Double(row.time.nanoseconds) / Double(max(1, longest.nanoseconds))).percentText
            let account = row.state.account.rawValue
            return """
                <div class="row"><div class="name">\(Sign.pill(row.state.account)) <small>\(row.state.description)</small></div>\
                <svg class="thin" height="14" width="100%" aria-hidden="true"><rect class="s-\(account)" width="\(width)%" \
                height="100%" fill="url(#p-\(account))"/></svg>\
                <div class="state"><b>\(row.time.units)</b> <small>\(row.count == 1 ? "one outage" : "\(row.count) outages")\
                </small></div></div>
                """
        }
        return "\(items)"
    }
}
