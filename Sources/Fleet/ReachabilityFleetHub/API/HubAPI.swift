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
