package import LinuxSupport
import NIOHTTP1
package import NetworkDiagnostics
import ReachabilityLedger
package import ReachabilityService

/// The HTTP API and the dashboard of the service, version 1.
package struct API: Sendable {
    let service: MonitoringService
    /// The version of the program, for example `0.1.0`.
    let version: String
    let access: Access
    let statistics: @Sendable () -> WebStatistics
    let counters = MonotonicCounters()
    /// The reloader of the configuration; nil without a configuration file.
    let reloader: Reloader?
    /// The history on disk; nil if the service runs without one.
    let history: HistoryWriter?
    let feed: EventFeed
    /// Returns the states of the notifiers.
    let notifiers: @Sendable () -> [NotifierStatus]
    /// Sends a test to the notifier with a name. It returns false if there is none.
    let testNotifier: @Sendable (String) -> Bool
    /// Returns the network interfaces of the machine; nil if the kernel cannot be queried.
    let interfaces: @Sendable () -> [InterfaceDetails]?
    let evidenceWriter: EvidenceWriter?
    let memory = EvidenceMemory()
    let pages = PageCache()
    let latencies = LatencyMemory()
    let daySums = DayMemory()
    /// The settings of the public status page; nil without one.
    let statusPage: Locked<StatusPageSettings?>
    let pushTokens: PushTokens

    package init(
        _ service: MonitoringService,
        history: HistoryWriter? = nil,
        reloader: Reloader? = nil,
        version: String,
        access: Access = Access(),
        interfaces: @escaping @Sendable () -> [InterfaceDetails]? = { nil },
        evidence: EvidenceWriter? = nil,
        statusPage: Locked<StatusPageSettings?> = Locked(nil),
        pushTokens: PushTokens = PushTokens(),
        notifiers: @escaping @Sendable () -> [NotifierStatus] = { [] },
        testNotifier: @escaping @Sendable (String) -> Bool = { _ in false },
        statistics: @escaping @Sendable () -> WebStatistics
    ) {
        (self.service, self.history, self.version, self.statistics) = (service, history, version, statistics)
        (self.access, self.reloader, self.interfaces, self.notifiers) = (access, reloader, interfaces, notifiers)
        (evidenceWriter, self.statusPage, self.testNotifier) = (evidence, statusPage, testNotifier)
        self.pushTokens = pushTokens
        feed = EventFeed(service)
    }

    private static let description = Router.description(PackageResources.openapi_json)

    /// The routing table: method, path, access, queue and handler of each request.
    package var router: Router {
        Router(
            access,
            hint: "/v1/status, /v1/outages and /metrics do",
            description: Self.description,
            feed,
            [
                .get("/readyz") { _ in readiness() },
                .get("/metrics", metrics),
                .get("/probe", probe),
                .get("/v1/status") { _ in .one(status(of: service.snapshot)).unstored },
                .get("/v1/stream", stream),
                .list("/v1/targets", targets),
                .item("/v1/targets/{name}", target),
                .list("/v1/targets/{name}/intervals", on: .disk, intervals),
                .list("/v1/targets/{name}/availability", on: .disk, availability),
                .list("/v1/targets/{name}/checks", on: .disk, checks),
                .change(.POST, "/v1/targets/{name}/check", check),
                .change(.POST, "/v1/targets/{name}/pause") { query throws(Problem) in
                    try setPause(query, service.pause(query["name"]))
                },
                .change(.POST, "/v1/targets/{name}/resume") { query throws(Problem) in
                    try setPause(query, service.continueTarget(query["name"]))
                },
                .push("/v1/push/{name}", push),
                .list("/v1/availability", on: .disk, availability),
                .list("/v1/outages", on: .disk, outages),
                .item("/v1/outages/{id}", on: .disk) { query throws(Problem) in try outage(query["id"]) },
                .get("/v1/outages/{id}/report", on: .disk, report),
                .change(.POST, "/v1/outages/{id}/note", note),
                .get("/v1/statement", on: .disk, statement),
                .get("/v1/why/{name}", on: .kernel, why),
                .list("/v1/maintenance", maintenances),
                .item("/v1/maintenance/{id}", on: .disk, maintenance),
                .change(.PUT, "/v1/maintenance/{id}", plan),
                .change(.DELETE, "/v1/maintenance/{id}", cancelMaintenance),
                .get("/v1/config") { .one(configuration(), $0.request).unstored },
                .change(.POST, "/v1/reload", reload),
                page("/", overviewPage),
                page("/targets/{name}", targetPage),
                page("/outages", outagesPage),
                page("/outages/{id}", outagePage),
                page("/availability", availabilityPage),
                page("/statement", isCached: false, statementPage),
                page("/network", isCached: false, networkPage),
                page("/service", isCached: false, servicePage),
                page("/help") { _, _ in .help() },
                page("/status", isPublic: true, publicPage),
                .open("/status/feed", on: .disk, publicFeed),
                .open("/badge/{file}", on: .disk, badge),
                .get("/outages.csv", on: .disk, outageSheet),
                .get("/availability.csv", on: .disk, availabilitySheet),
            ] + forms
        )
    }
}
