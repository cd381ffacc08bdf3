import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// The filter of the list of devices.
private struct DeviceChoice {
    var site: String?
    var standing: DevicePresence.Standing?
    /// The last device of the previous page.
    var after: DeviceID?
    var limit: Int

    init(_ query: Query) throws(Problem) {
        site = query.text("site")
        standing = try query.word("standing", DevicePresence.Standing.self)
        after = try query.after.map { text throws(Problem) in try HubAPI.place(after: text) }
        limit = try query.limit
    }

    /// Returns the address of the page with these devices.
    func link(standing: DevicePresence.Standing?, after: DeviceID? = nil) -> String {
        Query.link("/devices", [("site", site), ("standing", standing?.rawValue), ("after", after?.description)])
    }
}

extension HubAPI {
    /// Renders the list of devices. Devices that are silent for an unknown reason come first.
    func devicesPage(_ query: Query, _ view: HubView) throws(Problem) -> Layout {
        let choice = try DeviceChoice(query)
        let known = view.devices(of: choice.site)
        let chosen = known.filter { choice.standing == nil || $0.presence.standing == choice.standing }
        var rest = chosen[...]
        if let after = choice.after {
            // A device that was deleted counts as the last.
            let key = (view.hub.devices[after].map(view.rank) ?? .max, after)
            rest = rest.drop { (view.rank($0), $0.place) <= key }
        }
        let shown = rest.prefix(choice.limit)
        let place = choice.site.map { " at \($0)" } ?? ""
        let sentence: String
        switch choice.standing {
        case let standing?:
            let words = "\(chosen.count == 1 ? "is" : "are") \(FleetParts.words(standing))"
            sentence = "\(chosen.count) of \(known.count) \(known.count == 1 ? "machine" : "machines")\(place) \(words)"
        case nil: sentence = "\(known.count) \(known.count == 1 ? "machine" : "machines")\(place)"
        }
        let next = shown.count < rest.count ? shown.last?.place : nil
        let more: HTML? = next.map { place in
            """
            <p class="more"><a href="\(choice.link(standing: choice.standing, after: place))">\(rest.count - shown.count) more</a></p>
            """
        }
        let list = FleetParts.devices(shown, view)
        let account = known.first.map(view.account) ?? .unknown
        let main: HTML = """
            \(FleetParts.hero(account, sentence))
            \(PageParts.card("machines", "Machines \(Self.tabs(known, choice))", list))\(more)
            \(PageParts.more(api: "/v1/devices"))
            """
        return Layout(sentence, account, at: "/devices", main: main)
    }

    /// Returns links to the lists of devices by standing, with their numbers.
    private static func tabs(_ devices: [HubDevice], _ choice: DeviceChoice) -> HTML {
        var counts: [DevicePresence.Standing: Int] = [:]
        for device in devices { counts[device.presence.standing, default: 0] += 1 }
        let standings = DevicePresence.Standing.allCases.filter { counts[$0] != nil || choice.standing == $0 }
        let links = standings.map { standing in
            (
                name: "\(counts[standing] ?? 0) \(FleetParts.words(standing))", link: choice.link(standing: standing),
                isCurrent: choice.standing == standing
            )
        }
        return PageParts.tabs([("all", choice.link(standing: nil), choice.standing == nil)] + links)
    }
}

extension HubAPI {
    /// Renders a device: its state, its latest absence, and its incidents.
    func devicePage(_ query: Query, _ view: HubView) throws(Problem) -> Layout? {
        guard let place = query.place, let device = view.hub.devices[place] else { return nil }
        let account = view.account(of: device)
        let words = [view.state(of: device), view.reason(of: device)].compactMap(\.self).joined(separator: ", ")
        let sentence = "\(place.device) is \(words)"
        let when: HTML? = view.since(device).map { "since \(view.clock.time($0)) (\(view.clock.lasting(since: $0)))" }
        let latest = try latest(of: place.site, place.device)
        let main: HTML = """
            \(FleetParts.hero(account, sentence, when: when))
            \(PageParts.card("facts", "Details", Self.facts(device, view)))
            \(PageParts.card("incidents", "Incidents", FleetParts.incidents(latest, view)))
            \(PageParts.more(api: "/v1\(FleetLink.device(place))"))
            """
        return Layout(sentence, account, at: "/", main: main)
    }

    private static func facts(_ device: HubDevice, _ view: HubView) -> HTML {
        let (clock, report) = (view.clock, device.presence.report)
        let end: HTML = device.gap?.until.map { clock.time($0) } ?? "now"
        let verdict = view.hub.verdict(of: device.place) ?? .unexplained
        return PageParts.facts([
            ("Site", "<a href=\"\(FleetLink.site(device.place.site))\">\(device.place.site)</a>"),
            ("Last message", device.presence.lastMessage.map { clock.time($0) }),
            ("Reports its state", report.map { "every \($0.refresh.wholeUnits)" }),
            ("Internet", device.presence.standing == .online ? report?.path.map { "\($0)" } : nil),
            ("Boot", report.map { "<code>\($0.boot)</code>" }),
            ("Clock", device.clock.offset.map { Self.clock($0) }),
            ("Last absence", device.gap.map { "\(clock.time($0.since)) to \(end)" }),
            ("Reason", device.gap.map { _ in "\(verdict.people)" }),
            ("Duplicate name seen", device.disputed.map { clock.time($0) }),
            ("Refused messages", device.refused > 0 ? "\(Int(clamping: device.refused))" : nil),
        ])
    }

    private static func clock(_ offset: Duration) -> HTML {
        if abs(offset.components.seconds) < 2 { return "correct" }
        let isAhead = offset < .zero
        return "\((isAhead ? .zero - offset : offset).wholeUnits) \(isAhead ? "ahead" : "behind")"
    }
}
