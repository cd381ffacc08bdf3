import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
package import ReachabilityServer
package import ReachabilityService

/// The HTTP API and the dashboard of a hub, version 1.
package struct HubAPI: Sendable {
    let writer: HubWriter
    let store: HubStore
    let follower: BrokerFollower
    let feed: HubFeed
    let access: Access
    /// Reloads the configuration; nil without one.
    let reloader: Reloader?
    /// The version of the program, for example `0.1.0`.
    let version: String
    let counts: HubCounts
    let clock: @Sendable () -> Duration
    let start: Duration
    let notifiers: @Sendable () -> [NotifierStatus]
    let statistics: @Sendable () -> WebStatistics

    package init(
        _ writer: HubWriter,
        store: HubStore,
        follower: BrokerFollower,
        feed: HubFeed,
        counts: HubCounts,
        version: String,
        access: Access,
        reloader: Reloader? = nil,
        clock: @escaping @Sendable () -> Duration = { SystemClock.real },
        notifiers: @escaping @Sendable () -> [NotifierStatus] = { [] },
        statistics: @escaping @Sendable () -> WebStatistics
    ) {
        (self.writer, self.store, self.follower, self.feed, self.counts) = (writer, store, follower, feed, counts)
        (self.version, self.access, self.reloader) = (version, access, reloader)
        (self.clock, self.notifiers, self.statistics) = (clock, notifiers, statistics)
        start = clock()
    }

    private static let description = Router.description(PackageResources.openapi_json)

    /// The routing table: method, path, access, queue and handler of each request.
    package var router: Router {
        Router(
            access,
            hint: "/v1/devices, /v1/incidents and /metrics do",
            description: Self.description,
            feed.events,
            [
                .get("/readyz", on: .memory) { _ in readiness() },
                .get("/metrics", on: .memory, metrics),
                .get("/v1/status", on: .memory) { _ in .one(status()).unstored },
                .get("/v1/stream", on: .memory) { query throws(Problem) in
                    // Changes since the snapshot are sent again.
                    try feed.events.stream(query) { .init(feed.number) { status() } }
                },
                .change(.POST, "/v1/reload") { query throws(Problem) in
                    try Reloader.answer(reloader, of: "hub", query)
                },
                .list("/v1/sites", on: .memory, sites),
                .list("/v1/devices", on: .memory, devices),
                .change(.DELETE, "/v1/devices", forgetDevices),
                .item("/v1/devices/{site}/{device}", on: .memory, device),
                .change(.DELETE, "/v1/devices/{site}/{device}", forgetDevice),
                .list("/v1/incidents", on: .disk, incidents),
                .item("/v1/incidents/{id}", on: .disk, incident),
                page("/", overviewPage),
                page("/sites/{site}", sitePage),
                page("/devices", devicesPage),
                page("/devices/{site}/{device}", devicePage),
                page("/incidents", incidentsPage),
                page("/incidents/{id}", incidentPage),
                page("/help") { _, _ in .help(places: Layout.hubPlaces) },
            ]
        )
    }

    /// Reports a failure of the history as status 503.
    func disk<Value>(_ body: () throws(HistoryError) -> Value) throws(Problem) -> Value {
        do { return try body() } catch { throw Problem(.serviceUnavailable, error.text) }
    }
}

extension HubAPI {
    /// Returns the devices, sorted by site and name.
    func devices(_ query: Query) throws(Problem) -> Page {
        let hub = writer.hub
        let site = query.text("site")
        let name = query.text("device")
        let standing = try query.word("standing", DevicePresence.Standing.self)
        let unexplained = try query.word("unexplained", BooleanWord.self)
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

    /// Reads the last device of the previous page. Devices are sorted by site and name. A comparison of the text
    /// `SITE/DEVICE` would sort "-" before "/".
    static func place(after text: String) throws(Problem) -> DeviceID {
        guard let place = DeviceID(text) else {
            throw Problem(.badRequest, "after is SITE/DEVICE, such as north/door-7, not \"\(text.printable)\"")
        }
        return place
    }

    func device(_ query: Query) throws(Problem) -> Item {
        let hub = writer.hub
        guard let device = query.place.flatMap({ hub.devices[$0] }) else { throw Self.noDevice(query) }
        return hub.item(of: device)
    }

    /// Deletes a device and its incidents. If the device is online, it reports its state again immediately.
    func forgetDevice(_ query: Query) throws(Problem) -> WebAnswer {
        guard let place = query.place, writer.hub.devices[place] != nil, try forget([place]) == 1 else {
            throw Self.noDevice(query)
        }
        return WebAnswer(.noContent)
    }

    /// Deletes all devices of a site, all devices with a name, or both.
    func forgetDevices(_ query: Query) throws(Problem) -> WebAnswer {
        let (site, name) = (query.text("site"), query.text("device"))
        try query.checkNames()
        guard site != nil || name != nil else {
            throw Problem(.badRequest, "site or device is required")
        }
        let places = writer.hub.devices.keys.filter { place in
            (site ?? place.site) == place.site && (name ?? place.device) == place.device
        }.sorted()
        var count = 0
        // Devices are deleted in slices, so that messages are not delayed for long.
        for start in stride(from: 0, to: places.count, by: 1000) {
            count += try forget(Array(places[start..<min(start + 1000, places.count)]))
        }
        var object = JSONObject()
        object.add("schema", 1)
        object.add("forgotten", count)
        object.add("kind", "forgotten")
        let text = count == 1 ? "1 machine deleted" : "\(count) machines deleted"
        return .one(Item(key: "forgotten", object: object, text: text), query.request)
    }

    private func forget(_ places: [DeviceID]) throws(Problem) -> Int {
        guard follower.status.isConnected else {
            throw Problem(
                .serviceUnavailable,
                "cannot delete: not connected to the broker, whose retained messages would restore the devices; try again later"
            )
        }
        let devices = writer.hub.devices
        let known = try disk { () throws(HistoryError) in try writer.forget(places) }
        for place in known {
            guard let device = devices[place] else { continue }
            let last = DeviceReplay(after: device.log.newest.last)
            follower.forget(place, asking: device.presence.standing == .online ? last : nil)
        }
        return known.count
    }

    static func noSite(_ site: String) -> Problem {
        Problem(.notFound, "there is no site \"\(site.printable)\"; /v1/sites lists all")
    }

    private static func noDevice(_ query: Query) -> Problem {
        let name = "\(query["site"])/\(query["device"])".printable
        return Problem(.notFound, "there is no device \"\(name)\"; /v1/devices lists all")
    }

    /// Returns the sites, sorted by name, with the numbers of their devices.
    func sites(_ query: Query) throws(Problem) -> Page {
        try Page(of: HubSite.all(writer.hub), query, key: \.name, isAfter: { $0.name > $1 }, item: \.item)
    }

    private enum BooleanWord: String, CaseIterable {
        case `true`, `false`
    }
}

extension Query {
    /// The device in the path; nil if a name is invalid.
    var place: DeviceID? { DeviceID(site: self["site"], device: self["device"]) }
}

extension Hub {
    /// True if a device is silent and the reason is not known.
    func isUnexplained(_ place: DeviceID) -> Bool {
        devices[place]?.presence.standing == .silent && verdict(of: place) == .unexplained
    }
}

extension HubAPI {
    /// The maximum total in a page of incidents.
    private static let countLimit = 100_000

    /// Returns the incidents, the latest first.
    func incidents(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        let asked = IncidentQuery(
            site: query.text("site"),
            device: query.text("device"),
            isOpen: try query.word("state", OpenState.self) == .open,
            after: query.after,
            limit: limit + 1
        )
        let found = try disk { () throws(HistoryError) in
            // Without this check a page after an unknown incident would be empty, like the end of the list.
            if let after = asked.after, try store.incident(after) == nil { return [IncidentSummary]?.none }
            return try store.incidents(asked)
        }
        guard let found else {
            throw Problem(
                .badRequest,
                "invalid value \"\(query.after?.printable ?? "")\" of after: there is no such incident; use the value of next"
            )
        }
        if let site = asked.site, found.isEmpty, !writer.hub.devices.keys.contains(where: { $0.site == site }) {
            throw Self.noSite(site)
        }
        let now = clock()
        let count = try disk { () throws(HistoryError) in
            try store.incidentCount(asked, limit: Self.countLimit + 1)
        }
        let total = count > Self.countLimit ? nil : count
        let siteCount = writer.hub.siteCount
        return Page(first: limit, of: found.map { $0.item(at: now, of: siteCount) }, total: total)
    }

    /// Returns an incident with all its devices.
    func incident(_ query: Query) throws(Problem) -> Item {
        let id = query["id"]
        guard let found = try disk({ () throws(HistoryError) in try store.incident(id) }) else {
            throw Problem(.notFound, "there is no incident \"\(id.printable)\"; /v1/incidents lists all")
        }
        return found.item(at: clock(), of: writer.hub.siteCount)
    }
}
