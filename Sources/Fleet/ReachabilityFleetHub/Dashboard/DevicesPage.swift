import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// The machines that a reader wants to see.
struct DeviceChoice {
    var site: String?
    var standing: DevicePresence.Standing?
    /// The last machine of the page before.
    var after: FleetPlace?
    var limit = 100

    init() {}

    init(_ query: Query) throws(Problem) {
        site = query.text("site")
        standing = try query.word("standing", DevicePresence.Standing.self)
        after = try query.after.map { text throws(Problem) in try HubAPI.place(after: text) }
        limit = try query.limit
    }

    /// The page that has these machines.
    func link(standing: DevicePresence.Standing?, after: FleetPlace? = nil) -> String {
        let values = [("site", site), ("standing", standing?.rawValue), ("after", after?.description)]
        let pairs = values.compactMap { name, value in value.map { "\(name)=\($0.percentEncoded)" } }
        return HubPage.devices.link + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&"))
    }
}

/// All machines, page by page: those that are silent and unexplained first.
struct DevicesPage {
    let layout: Layout

    init(_ view: HubView, _ choice: DeviceChoice) {
        let known = view.devices(of: choice.site)
        let chosen = known.filter { choice.standing == nil || $0.presence.standing == choice.standing }
        var rest = chosen[...]
        if let after = choice.after {
            // A machine that is forgotten leaves its name, and comes last.
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
        let main: HTML = """
            \(FleetParts.hero(Self.account(known, view), sentence))
            <h2 id="machines">Machines \(Self.tabs(known, choice))</h2>
            <section class="card" data-part="machines" aria-labelledby="machines">\
            \(FleetParts.devices(shown, view, withSite: choice.site == nil))</section>\(more)
            <p class="more">For programs: <a href="/v1/devices"><code>/v1/devices</code></a></p>
            """
        layout = Layout(
            title: sentence,
            account: Self.account(known, view),
            place: "/devices",
            places: HubPage.places,
            main: main
        )
    }

    /// That of the machine that comes first.
    private static func account(_ devices: [HubDevice], _ view: HubView) -> LedgerAccount {
        devices.first.map(view.account) ?? .unknown
    }

    /// Links to the machines of each standing, with their numbers.
    private static func tabs(_ devices: [HubDevice], _ choice: DeviceChoice) -> HTML {
        var counts: [DevicePresence.Standing: Int] = [:]
        for device in devices { counts[device.presence.standing, default: 0] += 1 }
        func tab(_ standing: DevicePresence.Standing?, _ text: String) -> HTML {
            let current: HTML = choice.standing == standing ? " aria-current=\"true\"" : ""
            return "<a href=\"\(choice.link(standing: standing))\"\(current)>\(text)</a>"
        }
        let standings = DevicePresence.Standing.allCases.filter { counts[$0] != nil || choice.standing == $0 }
        let links = [tab(nil, "all")] + standings.map { tab($0, "\(counts[$0] ?? 0) \(FleetParts.words($0))") }
        return "<span class=\"tabs\">\(links)</span>"
    }
}
