import LinuxSupport
import ReachabilityFleet
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// What Prometheus scrapes: sites, not machines, for those may be many. Which machine it is the interface tells.
    func metrics(_ request: WebRequest) -> WebAnswer {
        var text = MetricsText(.init(request))
        let hub = keeper.hub
        addSites(HubSite.all(hub), to: &text)
        addIncidents(to: &text)
        addBroker(to: &text)
        text.add(notifiers())
        text.begin("reachability_build_info", .gauge, "1, with the version of the hub.")
        text.add("reachability_build_info", [("version", version)], "1")
        text.add("reachability_start_time_seconds", .gauge, "When the hub began, since 1970.", start.decimalSeconds)
        text.add(statistics())
        if let reloader { text.add(reloader.status) }
        text.addCertificate(access)
        text.addProcess()
        return text.answer
    }

    /// The maximum number of sites with series of their own. The machines of the others, which have the fewest, are counted together.
    static let siteLimit = 1000

    /// Not a name of a site.
    static let otherSites = "(other)"

    private func addSites(_ all: [HubSite], to text: inout MetricsText) {
        let sites = HubSite.largest(Self.siteLimit, of: all, others: Self.otherSites)
        let devices = "reachability_fleet_devices"
        text.begin(devices, .gauge, "Machines of each site, by how they are.")
        for site in sites {
            for standing in DevicePresence.Standing.allCases {
                let labels = [("site", site.name), ("standing", standing.rawValue)]
                text.add(devices, labels, String(site.count(standing)))
            }
        }
        let unexplained = "reachability_fleet_unexplained_devices"
        text.begin(unexplained, .gauge, "Machines of each site that are silent, and nobody knows why.")
        for site in sites { text.add(unexplained, [("site", site.name)], String(site.unexplained)) }
        let open = "reachability_fleet_open_incidents"
        text.begin(open, .gauge, "Incidents of each site that last.")
        for site in sites { text.add(open, [("site", site.name)], String(site.incidents.count)) }
    }

    private func addIncidents(to text: inout MetricsText) {
        let counts = counts.values
        let incidents = "reachability_fleet_incidents_total"
        text.begin(incidents, .counter, "Incidents that are over, since the hub began.")
        for (fault, count) in counts.closed.sorted(by: {
            ($0.key.attribution, $0.key.cause) < ($1.key.attribution, $1.key.cause)
        }) {
            text.add(incidents, [("attribution", fault.attribution), ("cause", fault.cause)], String(count))
        }
        text.add(
            "reachability_fleet_refused_messages_total",
            .counter,
            "Messages that were not taken, for they were none of a machine, or too many.",
            String(counts.refused)
        )
        text.add(
            "reachability_fleet_disputes_total",
            .counter,
            "How often two machines were seen to use one name.",
            String(counts.disputed)
        )
    }

    private func addBroker(to text: inout MetricsText) {
        let broker = follower.status
        text.add(
            "reachability_fleet_broker_connected",
            .gauge,
            "1 while there is a connection to the broker.",
            broker.isConnected ? "1" : "0"
        )
        text.add(
            "reachability_fleet_broker_connections_total",
            .counter,
            "Connections that were made to the broker.",
            String(broker.connections)
        )
        text.add(
            "reachability_fleet_overruns_total",
            .counter,
            "Messages there was no room for; their machines are asked again.",
            String(broker.overruns)
        )
        text.add(
            "reachability_fleet_history_fault",
            .gauge,
            "1 while what is decided cannot be written down.",
            keeper.fault == nil ? "0" : "1"
        )
    }
}
