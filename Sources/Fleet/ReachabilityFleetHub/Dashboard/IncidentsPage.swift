import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// The incidents of all sites, the latest first.
struct IncidentsPage {
    let layout: Layout

    init(_ view: HubView, _ latest: [IncidentSummary]) {
        let open = view.open.count
        let sentence =
            latest.isEmpty
            ? "No incident so far"
            : open == 0 ? "No incident lasts" : open == 1 ? "One incident lasts" : "\(open) incidents last"
        let account: LedgerAccount = view.open.first?.attribution.account ?? .up
        let lead: HTML = """
            An incident is one thing that happened at a site, with all machines it befell. It comes from what they tell themselves; \
            a silence opens one earlier, and is explained when they are back.
            """
        let main: HTML = """
            \(FleetParts.hero(account, sentence, lead: lead))
            <h2 id="list">The latest</h2><section class="card" data-part="list" aria-labelledby="list">\
            \(FleetParts.incidents(latest, view))</section>
            <p class="more">For programs: <a href="/v1/incidents"><code>/v1/incidents</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/incidents", places: HubPage.places, main: main)
    }
}
