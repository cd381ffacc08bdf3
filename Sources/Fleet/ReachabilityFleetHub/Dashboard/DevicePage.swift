import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// A machine: how it is, why it was silent the last time, and its incidents.
struct DevicePage {
    let layout: Layout

    /// Nil where there is no such machine.
    init?(_ view: HubView, _ place: FleetPlace, _ latest: [IncidentSummary]) {
        guard let device = view.hub.devices[place] else { return nil }
        let account = view.account(of: device)
        let sentence = "\(place.device) is \(view.words(device))"
        let when: HTML? = view.since(device).map { "since \(view.clock.time($0)) (\(view.clock.lasting(since: $0)))" }
        let main: HTML = """
            \(FleetParts.hero(account, sentence, when: when))
            <h2 id="facts">What is known</h2><section class="card" data-part="facts" aria-labelledby="facts">\
            \(Self.facts(device, view))</section>
            <h2 id="incidents">Incidents</h2><section class="card" data-part="incidents" aria-labelledby="incidents">\
            \(FleetParts.incidents(latest, view))</section>
            <p class="more">For programs: <a href="/v1\(HubPage.device(place).link)"><code>/v1/devices/\(place.description)</code></a></p>
            """
        layout = Layout(title: sentence, account: account, place: "/", places: HubPage.places, main: main)
    }

    private static func facts(_ device: HubDevice, _ view: HubView) -> HTML {
        var rows: [HTML] = []
        func row(_ name: String, _ value: HTML?) {
            if let value { rows.append("<dt>\(name)</dt><dd>\(value)</dd>") }
        }
        let clock = view.clock
        row("Site", "<a href=\"\(HubPage.site(device.place.site).link)\">\(device.place.site)</a>")
        row("Heard", device.presence.heard.map { clock.time($0) })
        row("Says how it is", device.presence.report.map { "each \($0.refresh.wholeUnits)" })
        row("Its internet", device.presence.standing == .online ? device.presence.report?.path.map { "\($0)" } : nil)
        row("Boot", device.presence.report.map { "<code>\($0.boot)</code>" })
        row("Its clock", device.clock.offset.map { Self.clock($0) })
        if let gap = device.gap {
            let end: HTML = gap.until.map { clock.time($0) } ?? "now"
            row("Silent the last time", "\(clock.time(gap.since)) to \(end)")
            row("Why", "\((view.hub.verdict(of: device.place) ?? .unexplained).people)")
        }
        row("Two machines use its name", device.disputed.map { clock.time($0) })
        row("Messages refused", device.refused > 0 ? "\(Int(clamping: device.refused))" : nil)
        return "<dl class=\"facts\">\(rows)</dl>"
    }

    private static func clock(_ offset: Duration) -> HTML {
        if abs(offset.components.seconds) < 2 { return "right" }
        let isAhead = offset < .zero
        return "\((isAhead ? .zero - offset : offset).wholeUnits) \(isAhead ? "ahead" : "behind")"
    }
}
