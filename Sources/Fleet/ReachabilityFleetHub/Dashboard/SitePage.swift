import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// A site: its machines, the silent first, and its incidents.
struct SitePage {
    let layout: Layout

    /// So many machines are named.
    private static let limit = 500

    /// Nil where there is no such site.
    init?(_ view: HubView, _ name: String, _ latest: [IncidentSummary]) {
        guard let site = view.sites.first(where: { $0.name == name }) else { return nil }
        let devices = view.devices(of: name)
        let away = site.count(.silent) + site.count(.unknown)
        let account: LedgerAccount =
            site.unexplained > 0 ? .unknown : site.count(.silent) > 0 ? .them : away > 0 ? .unknown : .up
        let sentence =
            away == 0
            ? "All of \(name) is heard"
            : "\(away) of \(site.deviceCount) at \(name) \(away == 1 ? "is" : "are") not heard"
        let more: HTML? =
            devices.count > Self.limit
            ? """
            <p class="more">And \(devices.count - Self.limit) more: <a href="/devices?site=\(name.percentEncoded)">all machines</a>.</p>
            """ : nil
        let main: HTML = """
            \(FleetParts.hero(account, sentence, lead: "\(FleetParts.counts(site))."))
            <h2 id="share">How they are</h2><section class="card" data-part="share" aria-labelledby="share"><div class="inside">\
            \(FleetParts.shares(site, label: FleetParts.counts(site)))</div></section>
            <h2 id="machines">Machines</h2><section class="card" data-part="machines" aria-labelledby="machines">\
            \(FleetParts.devices(devices.prefix(Self.limit), view, withSite: false))\(more)</section>
            <h2 id="incidents">Incidents</h2><section class="card" data-part="incidents" aria-labelledby="incidents">\
            \(FleetParts.incidents(latest, view))</section>
            <p class="more">For programs: <a href="/v1/devices?site=\(name.percentEncoded)"><code>/v1/devices?site=\(name)</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/", places: HubPage.places, main: main)
    }
}
