import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// The machines, in the order of their names.
    func devices(_ query: Query) throws(Problem) -> Page {
        let hub = keeper.hub
        let site = query.text("site")
        let name = query.text("device")
        let standing = try query.word("standing", DevicePresence.Standing.self)
        let unexplained = try query.word("unexplained", Truth.self)
        let places = hub.devices.values.filter { device in
            if let site, device.place.site != site { return false }
            if let name, device.place.device != name { return false }
            if let standing, device.presence.standing != standing { return false }
            if let unexplained, hub.isUnexplained(device.place) != (unexplained == .true) { return false }
            return true
        }.map(\.place).sorted()
        if let site, places.isEmpty, !hub.devices.keys.contains(where: { $0.site == site }) {
            throw Self.noSite(site)
        }
        let after = try query.after.map { text throws(Problem) in try Self.place(after: text) }
        return try Page(
            of: places,
            query,
            key: \.description,
            isAfter: { place, _ in after.map { place > $0 } ?? true },
            item: { hub.devices[$0].map { hub.item(of: $0) } }
        )
    }

    /// The last machine of the page before. Machines are in the order of their places, because as texts they have another order: "-" comes
    /// before "/".
    static func place(after text: String) throws(Problem) -> FleetPlace {
        guard let place = FleetPlace(text) else {
            throw Problem(
                .badRequest,
                "after is a site and a device, such as north/door-7, not \"\(text.printable)\""
            )
        }
        return place
    }

    func device(_ place: FleetPlace) throws(Problem) -> Item {
        let hub = keeper.hub
        guard let device = hub.devices[place] else { throw Self.noDevice(place) }
        return hub.item(of: device)
    }

    /// Forgets a machine, and all that befell it. One that lives is asked how it is, and begins anew at once.
    func forget(_ place: FleetPlace) throws(Problem) -> WebAnswer {
        guard keeper.hub.devices[place] != nil, try forget([place]) == 1 else { throw Self.noDevice(place) }
        return WebAnswer(.noContent)
    }

    /// Forgets all machines of a site, or of a name.
    func forgetDevices(_ request: WebRequest) throws(Problem) -> WebAnswer {
        let query = Query(request)
        let (site, name) = (query.text("site"), query.text("device"))
        try query.checkNames()
        guard site != nil || name != nil else {
            throw Problem(.badRequest, "site or device says which machines are to be forgotten")
        }
        let places = keeper.hub.devices.keys.filter { place in
            (site ?? place.site) == place.site && (name ?? place.device) == place.device
        }.sorted()
        var count = 0
        // Slice by slice, so that messages are not held up for long.
        for start in stride(from: 0, to: places.count, by: 1000) {
            count += try forget(Array(places[start..<min(start + 1000, places.count)]))
        }
        var object = JSONObject()
        object.add("schema", 1)
        object.add("forgotten", count)
        object.add("kind", "forgotten")
        let text = count == 1 ? "one machine is forgotten" : "\(count) machines are forgotten"
        return .one(Item(key: "forgotten", object: object, text: text), request)
    }

    /// - Returns: How many were known.
    private func forget(_ places: [FleetPlace]) throws(Problem) -> Int {
        guard follower.status.isConnected else {
            throw Problem(
                .serviceUnavailable,
                "the broker is away, and what it keeps would bring back what is forgotten: try again when it is there"
            )
        }
        let devices = keeper.hub.devices
        let known = try disk { () throws(HistoryFault) in try keeper.forget(places) }
        for place in known {
            guard let device = devices[place] else { continue }
            let last = DeviceReplay(after: device.log.newest.last)
            follower.forget(place, asking: device.presence.standing == .online ? last : nil)
        }
        return known.count
    }

    static func noSite(_ site: String) -> Problem {
        Problem(.notFound, "there is no site \"\(site.printable)\"; /v1/sites has those there are")
    }

    private static func noDevice(_ place: FleetPlace) -> Problem {
        Problem(.notFound, "there is no device \"\(place)\"; /v1/devices has those there are")
    }

    /// The sites, in the order of their names, with how many machines are how.
    func sites(_ query: Query) throws(Problem) -> Page {
        let hub = keeper.hub
        return try Page(
            of: HubSite.all(hub),
            query,
            key: \.name,
            isAfter: { $0.name > $1 },
            item: \.item
        )
    }

    private enum Truth: String, CaseIterable {
        case `true`, `false`
    }
}

extension FleetPlace {
    /// Reads `SITE/DEVICE`; nil for another text.
    init?(_ text: String) {
        let parts = text.split(at: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(site: parts[0], device: parts[1])
    }
}

extension Hub {
    /// Whether a machine is silent, and nobody knows why.
    func isUnexplained(_ place: FleetPlace) -> Bool {
        devices[place]?.presence.standing == .silent && verdict(of: place) == .unexplained
    }
}
