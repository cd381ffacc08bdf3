import LinuxSupport
import NetworkDiagnostics
import NetworkReachability
import ReachabilityLedger
import ReachabilityService

extension API {
    /// Returns the page with the interfaces of this machine: their states, addresses and default routes.
    func networkPage(_: Query, _: MonitoringService.Snapshot) -> Layout {
        let interfaces = interfaces()
        let all = (interfaces ?? []).filter { $0.interface.type != .loopback }
        let ways = all.filter { !$0.defaultRoutes.isEmpty && $0.state == .up }.map(\.interface.name.printable)
        let sentence: String
        let account: LedgerAccount
        switch (interfaces, ways.isEmpty) {
        case (nil, _): (sentence, account) = ("The interfaces are not known", .unknown)
        case (_, true): (sentence, account) = ("No interface has a default route", .us)
        case (_, false): (sentence, account) = ("Packets leave through \(ways.joined(separator: ", "))", .up)
        }
        let rows = all.map(Self.row)
        let list: HTML = rows.isEmpty ? "<p class=\"empty\">The only interface is the loopback.</p>" : "\(rows)"
        let main: HTML = """
            \(PageParts.hero(account, sentence, lead: "The current state in the kernel."))
            \(PageParts.card("interfaces", "Interfaces", list))
            <p class="more">More details on the command line: <code>reachability list</code>, <code>reachability why</code></p>
            """
        return Layout(title: sentence, account: account, place: "/network", main: main)
    }

    private static func row(_ details: InterfaceDetails) -> HTML {
        let account: LedgerAccount = details.state == .up ? .up : details.state == .down ? .unknown : .us
        let state =
            switch details.state {
            case .up: "up"
            case .dormant: "dormant"
            case .noCarrier: "no carrier"
            case .down: "off"
            }
        let addresses = details.addresses.map { address -> HTML in
            let marks = address.marks.joined(separator: ", ")
            return
                "<code>\(address.address.description)/\(address.prefixLength)</code> <span class=\"soft\">\(marks)</span><br>"
        }
        let routes = details.defaultRoutes.map { route -> HTML in
            let gateway: HTML = route.gateway.map { "<code>\($0.description)</code>" } ?? "on-link"
            return
                "\(route.isIPv6 ? "IPv6" : "IPv4") via \(gateway) <span class=\"soft\">metric \(Int(route.metric))</span><br>"
        }
        let nothing: [HTML] = ["<span class=\"soft\">none</span>"]
        let kind = details.kind ?? details.interface.type.rawValue
        return PageParts.row(
            "<bdi>\(details.interface.description)</bdi><small>\(kind), \(Int(details.mtu)) bytes</small>",
            """
            <dl class="pairs"><dt>Addresses</dt><dd>\(addresses.isEmpty ? nothing : addresses)</dd>\
            <dt>Default routes</dt><dd>\(routes.isEmpty ? nothing : routes)</dd></dl>
            """,
            state: "<span class=\"pill t-\(account.rawValue)\">\(Sign.svg(account))\(state)</span>"
        )
    }

    /// Returns the page with the state of the service.
    func servicePage(_ query: Query, _ snapshot: MonitoringService.Snapshot) -> Layout {
        let (usage, statistics) = (ProcessUsage.current, statistics())
        let hero = PageParts.hero(
            mark: "up",
            "The service is running.",
            when: "Since \(snapshot.since(service.start))",
            lead: "It sleeps until the kernel reports an event."
        )
        let facts = PageParts.facts([
            ("Version", "\(version)"), ("Targets", "\(snapshot.accounting.accounts.count)"),
            ("Events", "\(Int(snapshot.accounting.lastNumber))"),
            ("Memory", usage.map { "\(Int($0.resident) / 1_048_576)\u{a0}MiB" } ?? "unknown"),
            ("CPU time", usage.map { "\($0.processor.units)" } ?? "unknown"),
        ])
        let clients = PageParts.facts([
            ("Streams", "\(feed.count)"), ("Connections", "\(statistics.connections)"),
            (
                "Refused",
                "\(Int(statistics.refused)) because of limits, \(Int(statistics.slowStreams)) because they read too slowly"
            ),
        ])
        let main: HTML = """
            \(hero)
            \(PageParts.card("facts", "Details", facts))
            \(PageParts.card("clients", "Clients", clients))\(PageParts.notifiers(notifiers()) { form(of: $0, query.request) })
            \(PageParts.more(api: "/v1/status", "/metrics", "/readyz"))
            """
        return Layout(title: "The service", account: .up, place: "/service", main: main)
    }
}
