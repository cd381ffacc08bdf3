import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
package import ReachabilityServer
package import ReachabilityService

/// The interface of a hub, version 1: what is answered to each request. Its rules are those of the service's.
///
/// It is a function of what the hub knows at the moment, of what is on the disk, and of the request.
package struct HubAPI: Sendable {
    let keeper: HubKeeper
    let store: any HubStore
    let follower: BrokerFollower
    let feed: HubFeed
    let access: Access
    /// Reads the configuration again; nil where there is none.
    let reloader: Reloader?
    /// For example `0.1.0`.
    let version: String
    let counts: HubCounts
    let clock: @Sendable () -> Duration
    let start: Duration
    /// How it goes with those who are told.
    let notifiers: @Sendable () -> [NotifierStatus]
    /// How the server is used, for the metrics.
    let statistics: @Sendable () -> WebStatistics

    package init(
        _ keeper: HubKeeper,
        store: any HubStore,
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
        (self.keeper, self.store, self.follower, self.feed, self.counts) = (keeper, store, follower, feed, counts)
        (self.version, self.access, self.reloader) = (version, access, reloader)
        (self.clock, self.notifiers, self.statistics) = (clock, notifiers, statistics)
        start = clock()
    }

    /// Whether the answer may have to be read from the disk.
    package static func readsDisk(_ request: WebRequest) -> Bool {
        switch try? HubResource(request.path) {
        case .incidents, .incident, .device, .page: true
        default: false
        }
    }

    /// Whether something is changed, which does not wait for what others read.
    package static func changesSomething(_ request: WebRequest) -> Bool {
        [.POST, .DELETE].contains(request.method)
    }

    /// Answers a request, whatever it is.
    package func answer(to request: WebRequest) -> WebAnswer {
        do {
            var request = request
            let resource = Result { () throws(Problem) in try HubResource(request.path) }
            let isPage = if case .success(.page) = resource { true } else { false }
            try access.admit(&request, isPage: isPage)
            return try answer(to: request, resource.get())
        } catch {
            return error.answer(as: Representation(of: request))
        }
    }

    private func answer(to request: WebRequest, _ resource: HubResource) throws(Problem) -> WebAnswer {
        switch (request.method, resource) {
        case (.POST, .reload):
            try AdminRule.check(request)
            return try reload(as: Representation(of: request))
        case (.GET, _) where resource != .reload, (.HEAD, _) where resource != .reload:
            return try read(resource, request)
        case (.DELETE, .device(let place)):
            try AdminRule.check(request)
            return try forget(place)
        case (.DELETE, .devices):
            try AdminRule.check(request)
            return try forgetDevices(request)
        case (.OPTIONS, _):
            var answer = WebAnswer(.noContent)
            answer.headers.append(("Allow", resource.methods))
            return answer
        default:
            throw Problem(
                .methodNotAllowed,
                "/\(request.path.joined(separator: "/")) takes \(resource.methods)",
                headers: [("Allow", resource.methods)]
            )
        }
    }

    private func read(_ resource: HubResource, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let query = Query(request)
        switch resource {
        case .reload: return WebAnswer(.noContent)
        case .health: return .healthy
        case .readiness: return readiness()
        case .metrics: return metrics(request)
        case .description: return description(request)
        case .status: return WebAnswer.one(status()).unstored
        case .sites: return try .list(sites(query), query, request)
        case .devices: return try .list(devices(query), query, request)
        case .device(let place): return .one(try device(place), request)
        case .incidents: return try .list(incidents(query), query, request)
        case .incident(let id): return .one(try incident(id), request)
        case .page(let page): return try self.page(page, query)
        case .asset(let name): return try Asset.answer(name, request)
        case .events: return try feed.events.events(query, request)
        case .stream:
            return try feed.events.answer(query, request) {
                // What was decided since is told once more.
                .init(feed.number) { status() }
            }
        }
    }

    /// What can be asked for, in the words of OpenAPI 3.1: `openapi.json`, as it stands beside this file.
    private func description(_ request: WebRequest) -> WebAnswer {
        WebAnswer(type: Representation.json.contentType, PackageResources.openapi_json).tagged(for: request)
    }

    /// Reads the configuration again; 422 with all that is wrong where it is not used.
    private func reload(as representation: Representation) throws(Problem) -> WebAnswer {
        guard let reloader else {
            throw Problem(.conflict, "the hub was started without a configuration: give it one with --config")
        }
        return reloader.answer(as: representation)
    }

    /// Where the disk cannot be read.
    func disk<Value>(_ body: () throws(HistoryFault) -> Value) throws(Problem) -> Value {
        do { return try body() } catch { throw Problem(.serviceUnavailable, error.text) }
    }
}

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

extension HubAPI {
    /// The incidents, the latest first.
    func incidents(_ query: Query) throws(Problem) -> Page {
        let limit = try query.limit
        let asked = IncidentQuery(
            site: query.text("site"),
            device: query.text("device"),
            isOpen: try query.word("state", Openness.self) == .open,
            after: query.after,
            limit: limit + 1
        )
        let found = try disk { () throws(HistoryFault) in
            // The page after one that is not there would look like the end.
            if let after = asked.after, try store.incident(after) == nil { return [IncidentSummary]?.none }
            return try store.incidents(asked)
        }
        guard let found else {
            throw Problem(
                .badRequest,
                "after is what next was: there is no incident \"\(query.after?.printable ?? "")\""
            )
        }
        if let site = asked.site, found.isEmpty, !keeper.hub.devices.keys.contains(where: { $0.site == site }) {
            throw Self.noSite(site)
        }
        let now = clock()
        let items = found.prefix(limit).map { $0.item(at: now) }
        return Page(items, next: found.count > limit ? items.last?.key : nil)
    }

    /// One incident, with what befell each machine.
    func incident(_ id: String) throws(Problem) -> Item {
        let found = try disk { () throws(HistoryFault) in try store.incident(id) }
        guard let found else {
            throw Problem(.notFound, "there is no incident \"\(id.printable)\"; /v1/incidents has those there are")
        }
        return found.item(at: clock())
    }

    private enum Openness: String, CaseIterable {
        case open, any
    }
}
