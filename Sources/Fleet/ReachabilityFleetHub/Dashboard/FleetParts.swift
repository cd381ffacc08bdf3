import LinuxSupport
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

    /// For example `3 of 120 machines are silent`, or `5 of 120 machines are affected, 3 of them silent`; nil if all are well.
    static func headline(affected: Int, silent: Int, unheard: Int, of all: Int) -> String? {
        func sentence(_ count: Int, _ words: String) -> String {
            "\(count) of \(all) \(all == 1 ? "machine" : "machines") \(count == 1 ? "is" : "are") \(words)"
        }
        if affected > 0 {
            if affected == silent { return sentence(silent, "silent") }
            return sentence(affected, "affected") + (silent > 0 ? ", \(silent) of them silent" : "")
        }
        return unheard > 0 ? sentence(unheard, "not heard yet") : nil
    }

    /// The machines of a site to scale, by the states that their signs show; each of a few is set apart.
    static func shares(_ site: HubSite, label: String) -> HTML {
        let whole = max(1, site.deviceCount)
        var left = 0.0
        let parts = [LedgerAccount.us, .upstream, .them, .unknown, .maintenance, .up].map { account -> HTML in
            let share = Double(site.accounts[account] ?? 0) / Double(whole)
            defer { left += share }
            if share == 0 { return "" }
            let fill: HTML = account == .up ? "" : " fill=\"url(#p-\(account.rawValue))\""
            return """
                <rect class="s-\(account.rawValue)" x="\((left * 100).short)%" width="\((share * 100).short)%" height="100%"\(fill)/>
                """
        }
        let cuts = (1..<max(1, whole > fewMachines ? 1 : whole)).map { number -> HTML in
            "<rect class=\"cut\" x=\"\((Double(number) * 100 / Double(whole)).short)%\" width=\"1\" height=\"100%\"/>"
        }
        return """
            <svg class="bar" height="22" width="100%" role="img" aria-label="\(label)">\(parts)\(cuts)</svg>
            """
    }

    /// The maximum number of machines that are set apart in a bar.
    private static let fewMachines = 24

    /// For example `12 online, 1 silent`.
    static func counts(_ site: HubSite) -> String {
        let parts = DevicePresence.Standing.allCases.compactMap { standing in
            site.count(standing) > 0 ? "\(site.count(standing)) \(words(standing))" : nil
        }
        return parts.joined(separator: ", ")
    }

    static func words(_ standing: DevicePresence.Standing) -> String {
        switch standing {
        case .online: "online"
        case .silent: "silent"
        case .unknown: "not heard yet"
        case .sleeping: "asleep"
        case .leaving: "gone as said"
        }
    }
}

extension Double {
    /// With three digits behind the point, for a picture.
    var short: String { (Int64((self * 1000).rounded())).decimal(places: 3) }
}
