import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// The pages people look at, by their paths.
enum DashboardPage: Hashable {
    case overview
    case target(String)
    case outages
    case outage(String)
    case availability
    case network
    case service

    /// - Parameter path: The parts of the path, decoded.
    init?(_ path: [String]) {
        switch (path.count, path.first) {
        case (0, _): self = .overview
        case (2, "targets"): self = .target(path[1])
        case (1, "outages"): self = .outages
        case (2, "outages"): self = .outage(path[1])
        case (1, "availability"): self = .availability
        case (1, "network"): self = .network
        case (1, "service"): self = .service
        default: return nil
        }
    }

    /// Where it is, for links.
    var link: String {
        switch self {
        case .overview: "/"
        case .target(let name): "/targets/\(name.percentEncoded)"
        case .outages: "/outages"
        case .outage(let id): "/outages/\(id.percentEncoded)"
        case .availability: "/availability"
        case .network: "/network"
        case .service: "/service"
        }
    }
}

extension API {
    /// A page, made of what is so now.
    func page(_ page: DashboardPage, _ query: Query) throws(Problem) -> WebAnswer {
        let snapshot = service.snapshot
        let showsAll = page == .overview || page == .availability
        let times = KnownTimes(self, snapshot, of: showsAll ? snapshot.books.accounts.count : 1)
        let layout: Layout
        switch page {
        case .overview:
            let count = outageSums(OutageFilter(), snapshot).reduce(0) { $0 + $1.count }
            let window = try BarWindow(query, snapshot, since: service.start)
            layout = OverviewPage(snapshot, times, latest(OutageFilter(), snapshot, limit: 6), count, window).layout
        case .target(let name):
            let window = try BarWindow(query, snapshot, since: service.start)
            let buckets = try? buckets(of: name, from: window.from, to: window.to, limit: 10_000)
            let checks = service.checkLog.latest(of: name)
            let outages = latest(OutageFilter(target: name), snapshot, limit: 50)
            guard let page = TargetPage(snapshot, times, name, outages, window, checks: checks, buckets: buckets ?? [])
            else {
                return missing("There is no target \(name)", snapshot)
            }
            layout = page.layout
        case .outages: layout = try outagesPage(query, snapshot).layout
        case .outage(let id):
            guard let found = try? explained(id, snapshot) else { return missing("There is no outage \(id)", snapshot) }
            layout = OutagePage(snapshot, times, found, latest(OutageFilter(), snapshot, limit: 200)).layout
        case .availability:
            layout = AvailabilityPage(snapshot, times, try BarWindow(query, snapshot, since: service.start)).layout
        case .network: layout = NetworkPage(interfaces?.read()).layout
        case .service:
            layout = ServicePage(snapshot, service.start, version, statistics(), feed.count, notifiers()).layout
        }
        try query.checkNames()
        return answer(layout, snapshot)
    }

    /// The latest outages; those in memory where the disk cannot be read.
    private func latest(
        _ filter: OutageFilter = OutageFilter(),
        after: OutageKey? = nil,
        _ snapshot: MonitoringService.Snapshot,
        limit: Int
    ) -> [Outage] {
        let known = try? outages(filter, after: after, limit: limit, snapshot).map(\.outage)
        return known ?? snapshot.books.outages(filter, upTo: snapshot.now, limit: limit, at: snapshot.now)
    }

    private func outagesPage(
        _ query: Query,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> OutagesPage {
        var choice = OutageChoice()
        choice.target = query.text("target")
        choice.attribution = try query.word("attribution", Attribution.self)
        choice.cause = query.text("cause").map { OutageCause(rawValue: $0) }
        choice.window = try query.word("window", BarWindow.Choice.self)
        let after = query.after.flatMap { OutageKey($0) }
        let filter = choice.filter(snapshot)
        return OutagesPage(
            snapshot,
            choice,
            outageSums(filter, snapshot),
            latest(filter, after: after, snapshot, limit: OutagesPage.limit + 1),
            isFirst: after == nil
        )
    }

    private func missing(_ text: String, _ snapshot: MonitoringService.Snapshot) -> WebAnswer {
        let main: HTML = """
            <section class="hero t-unknown">\(Sign.svg(.unknown, size: "big"))<div><h1>\(text).</h1>\
            <p class="lead">It may be forgotten, or the address is mistyped. <a href="/">How it is now</a>, \
            <a href="/outages">the outages that are known</a>.</p></div></section>
            """
        let layout = Layout(title: text, account: .unknown, place: "", main: main)
        return answer(layout, snapshot, .notFound)
    }

    private func answer(
        _ layout: Layout,
        _ snapshot: MonitoringService.Snapshot,
        _ status: HTTPResponseStatus = .ok
    ) -> WebAnswer {
        let host = TextFile.read("/proc/sys/kernel/hostname")?.filter { !$0.isWhitespace } ?? "reachability"
        return layout.answer(snapshot.clock, host: host, notice: historyNotice, status)
    }

    /// The reason why the history is not written, and the number of events that are affected; nil if it is written.
    private var historyNotice: String? {
        guard let status = history?.status, let fault = status.fault else { return nil }
        let lost = status.lost > 0 ? ", \(status.lost) are lost" : ""
        return
            "\(fault.text.prefix(1).uppercased())\(fault.text.dropFirst()). \(status.pending) events are kept in memory\(lost)."
    }
}
