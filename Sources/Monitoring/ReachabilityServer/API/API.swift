import LinuxSupport
import NIOHTTP1
package import ReachabilityService

/// The interface of the service, version 1: what is answered to each request.
///
/// It is a function of what the service knows at the moment, and of the request.
package struct API: Sendable {
    let service: MonitoringService
    /// For example `0.1.0`.
    let version: String
    let access: Access
    /// How the server is used, for the metrics.
    let statistics: @Sendable () -> WebStatistics
    let counters: MonotonicCounters
    /// Reads the configuration again; nil where there is none.
    let reloader: Reloader?
    /// What is on the disk; nil where nothing is kept.
    let history: HistoryWriter?
    let feed: EventFeed
    /// How it goes with each notifier.
    let notifiers: @Sendable () -> [NotifierStatus]
    /// For the page of the network.
    let interfaces: InterfaceSource?
    /// Puts evidence into words; nil where nobody asks why.
    let evidenceWriter: EvidenceWriter?
    let memory = EvidenceMemory()
    let pages = PageCache()

    package init(
        _ service: MonitoringService,
        history: HistoryWriter? = nil,
        reloader: Reloader? = nil,
        version: String,
        access: Access = Access(),
        interfaces: InterfaceSource? = nil,
        evidence: EvidenceWriter? = nil,
        notifiers: @escaping @Sendable () -> [NotifierStatus] = { [] },
        statistics: @escaping @Sendable () -> WebStatistics
    ) {
        (self.service, self.history, self.version, self.statistics) = (service, history, version, statistics)
        self.access = access
        (self.reloader, self.interfaces, self.notifiers) = (reloader, interfaces, notifiers)
        evidenceWriter = evidence
        counters = MonotonicCounters()
        feed = EventFeed(service)
    }

    /// Whether the answer may have to be read from the disk.
    package static func readsDisk(_ request: WebRequest) -> Bool {
        switch try? Resource(request.path) {
        case .intervals, .outages, .outage, .availability, .availabilityOf, .page, .sheet, .checks, .report,
            .maintenance:
            true
        default: false
        }
    }

    /// Whether something is changed, which does not wait for what others read.
    package static func changesSomething(_ request: WebRequest) -> Bool {
        guard let resource = try? Resource(request.path) else { return false }
        return resource.isAction || [.PUT, .DELETE].contains(request.method)
    }

    /// Whether the kernel is asked for it, and DNS servers may have to be waited for.
    package static func asksKernel(_ request: WebRequest) -> Bool {
        if case .why? = try? Resource(request.path) { true } else { false }
    }

    /// Answers a request, whatever it is.
    package func answer(to request: WebRequest) -> WebAnswer {
        do {
            var request = request
            let resource = Result { () throws(Problem) in try Resource(request.path) }
            let isPage = if case .success(.page) = resource { true } else { false }
            try access.admit(&request, isPage: isPage)
            return try answer(to: request, resource.get())
        } catch {
            return error.answer(as: Representation(of: request))
        }
    }

    private func answer(to request: WebRequest, _ resource: Resource) throws(Problem) -> WebAnswer {
        switch request.method {
        case .POST where resource.isAction:
            try AdminRule.check(request)
            return try act(resource, request)
        case .PUT, .DELETE:
            guard case .maintenance(let id) = resource else { throw Self.refusal(resource, request) }
            try AdminRule.check(request)
            return try request.method == .PUT ? plan(id, request) : cancelMaintenance(id)
        case .GET where !resource.isAction, .HEAD where !resource.isAction: return try read(resource, request)
        case .OPTIONS:
            var answer = WebAnswer(.noContent)
            answer.headers.append(("Allow", resource.methods))
            return answer
        default: throw Self.refusal(resource, request)
        }
    }

    private static func refusal(_ resource: Resource, _ request: WebRequest) -> Problem {
        Problem(
            .methodNotAllowed,
            "/\(request.path.joined(separator: "/")) takes \(resource.methods)",
            headers: [("Allow", resource.methods)]
        )
    }

    private func act(_ resource: Resource, _ request: WebRequest) throws(Problem) -> WebAnswer {
        switch resource {
        case .check(let name): try check(name, request)
        case .note(let id): try note(on: id, request)
        default: try reload(as: Representation(of: request))
        }
    }

    private func read(_ resource: Resource, _ request: WebRequest) throws(Problem) -> WebAnswer {
        let query = Query(request)
        switch resource {
        case .reload, .check, .note: return WebAnswer(.noContent)
        case .health: return .healthy
        case .readiness: return readiness()
        case .metrics: return metrics(request)
        case .probe: return try probe(query, request)
        case .description: return description(request)
        case .status: return .one(status()).unstored
        case .targets: return try .list(targets(query), query, request)
        case .target(let name): return .one(try target(name), request)
        case .intervals(let name): return try .list(intervals(of: name, query), query, request)
        case .checks(let name): return try .list(checks(of: name, query), query, request)
        case .outages: return try .list(outages(query), query, request)
        case .outage(let id): return .one(try outage(id), request)
        case .report(let id): return try report(id, query, request)
        case .why(let name):
            try query.checkNames()
            return .one(try why(name), request).unstored
        case .configuration: return .one(configuration(), request).unstored
        case .maintenances: return try .list(maintenance(query), query, request)
        case .maintenance(let id): return .one(try maintenance(id), request)
        case .stream: return try stream(query, request)
        case .events: return try feed.events(query, request)
        case .page(let name): return try cachedPage(name, query, request)
        case .sheet(let sheet): return try self.sheet(sheet, query)
        case .asset(let name): return try Asset.answer(name, request)
        case .availability: return try .list(availability(query, of: nil), query, request)
        case .availabilityOf(let name): return try .list(availability(query, of: name), query, request)
        }
    }

    /// What can be asked for, in the words of OpenAPI 3.1: `openapi.json`, as it stands beside this file.
    private func description(_ request: WebRequest) -> WebAnswer {
        WebAnswer(type: Representation.json.contentType, PackageResources.openapi_json).tagged(for: request)
    }
}
