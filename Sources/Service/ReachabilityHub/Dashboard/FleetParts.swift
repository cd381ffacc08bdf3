import LinuxPrimitives
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// What several pages have.
enum FleetParts {
    /// The sentence on top.
    static func hero(_ account: LedgerAccount, _ sentence: String, when: HTML? = nil, lead: HTML? = nil) -> HTML {
        let moment: HTML? = when.map { " <span class=\"when\">\($0)</span>" }
        return """
            <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))<div>\
            <h1 data-say="\(sentence)">\(sentence).\(moment)</h1><p class="lead">\(lead)</p></div></section>
            """
    }

    /// Incidents one below the other, each with a link to all that is known of it.
    static func incidents(_ incidents: [IncidentSummary], _ view: HubView) -> HTML {
        if incidents.isEmpty { return "<p class=\"empty\">None is known.</p>" }
        let items = incidents.map { incident -> HTML in
            let account = incident.attribution.account
            let length: HTML =
                incident.end.map { "\(($0 - incident.start).units)" }
                ?? view.clock.lasting(since: incident.start) + " so far"
            let machines = incident.deviceCount == 1 ? incident.devices.first ?? "" : "\(incident.deviceCount) machines"
            let doubt: HTML? = incident.isUnexplained ? " · not all explained" : nil
            return """
                <li><a href="\(HubPage.incident(incident.id).link)">\(Sign.svg(account))\
                <b>\(FaultWords.heading(incident.attribution, incident.cause)) · \(incident.site)</b>\
                <span class="long">\(length)</span>\
                <span class="soft">\(machines)\(doubt) · \(view.clock.time(incident.start))</span></a></li>
                """
        }
        return "<ol class=\"list\">\(items)</ol>"
    }

    /// Machines one below the other.
    static func devices(_ devices: some Sequence<HubDevice>, _ view: HubView, withSite: Bool) -> HTML {
        let items = devices.map { device -> HTML in
            let name = withSite ? device.place.description : device.place.device
            let length: HTML? = view.since(device).map { view.clock.lasting(since: $0) }
            return """
                <li><a href="\(HubPage.device(device.place).link)">\(Sign.svg(view.account(of: device)))<b>\(name)</b>\
                <span class="long">\(length)</span><span class="soft">\(view.words(device))</span></a></li>
                """
        }
        return items.isEmpty ? "<p class=\"empty\">None.</p>" : "<ol class=\"list\">\(items)</ol>"
    }

    /// How many machines are how, to scale.
    static func shares(_ site: HubSite, label: String) -> HTML {
        let whole = max(1, site.deviceCount)
        var left = 0.0
        let parts = DevicePresence.Standing.allCases.map { standing -> HTML in
            let share = Double(site.count(standing)) / Double(whole)
            defer { left += share }
            if share == 0 { return "" }
            let account = paint(standing)
            let fill: HTML = account == .up ? "" : " fill=\"url(#p-\(account.rawValue))\""
            return """
                <rect class="s-\(account.rawValue)" x="\((left * 100).short)%" width="\((share * 100).short)%" height="100%"\(fill)/>
                """
        }
        return """
            <svg class="bar" height="22" width="100%" role="img" aria-label="\(label)">\(parts)</svg>
            """
    }

    private static func paint(_ standing: DevicePresence.Standing) -> LedgerAccount {
        switch standing {
        case .online: .up
        case .silent: .them
        case .unknown: .unknown
        case .sleeping, .leaving: .maintenance
        }
    }

    /// For example `12 online, 1 silent`.
    static func counts(_ site: HubSite) -> String {
        let words: [DevicePresence.Standing: String] = [
            .online: "online", .silent: "silent", .unknown: "not heard yet", .sleeping: "asleep",
            .leaving: "gone as said",
        ]
        let parts = DevicePresence.Standing.allCases.compactMap { standing in
            site.count(standing) > 0 ? "\(site.count(standing)) \(words[standing] ?? "")" : nil
        }
        return parts.joined(separator: ", ")
    }
}

extension Double {
    /// With three digits behind the point, for a picture.
    var short: String { (Int64((self * 1000).rounded())).decimal(places: 3) }
}
