import LinuxSupport
import NIOHTTP1
import ReachabilityFleet
import ReachabilityServer
import ReachabilityService

extension HubAPI {
    /// Returns 200 if the hub is connected to the broker and can write its history, otherwise 503.
    func readiness() -> WebAnswer {
        let (broker, fault) = (follower.status, writer.fault)
        var object = JSONObject()
        object.add("schema", 1)
        let isReady = broker.isConnected && broker.problem == nil && fault == nil
        object.add("ready", isReady)
        object.add("broker", broker.object)
        object.add("history", fault?.text)
        object.add("kind", "readiness")
        var answer = WebAnswer.one(object).unstored
        if !isReady { answer.status = .serviceUnavailable }
        return answer
    }

    /// Returns the numbers of devices by standing, the open incidents, and the states of the broker and of the
    /// notifiers.
    func status() -> JSONObject {
        let (hub, now) = (writer.hub, clock())
        let sites = HubSite.all(hub)
        var object = JSONObject()
        object.add("schema", 1)
        object.add("time", Timestamp(real: now))
        object.add("version", version)
        object.add("started", Timestamp(real: start))
        object.add("broker", follower.status.object)
        object.add("history", writer.fault?.text)
        var counts = JSONObject()
        for standing in DevicePresence.Standing.allCases {
            counts.add(standing.rawValue, sites.reduce(0) { $0 + $1.count(standing) })
        }
        counts.add("unexplained", sites.reduce(0) { $0 + $1.unexplained })
        object.add("devices", counts)
        object.add("sites", sites.count)
        let open = hub.book.incidents.filter(\.isOpen)
        object.add("incidents", open.prefix(1000).map { IncidentSummary($0).object(at: now, of: hub.siteCount) })
        object.add("notifiers", notifiers().map(\.object))
        object.add("kind", "hubStatus")
        return object
    }
}

extension BrokerFollower.Status {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("isConnected", isConnected)
        object.add("connections", connections)
        object.add("overruns", overruns)
        object.add("problem", problem)
        return object
    }
}

extension HubAPI {
    /// Returns the metrics for Prometheus. They have labels for sites but not for devices, because a fleet may have
    /// many devices.
    func metrics(_ query: Query) -> WebAnswer {
        var text = MetricsText(.init(query.request))
        let hub = writer.hub
        addSites(HubSite.all(hub), to: &text)
        addIncidents(to: &text)
        addBroker(to: &text)
        text.add(notifiers())
        text.add(version: version, of: "hub", start: start)
        text.add(statistics())
        if let reloader { text.add(reloader.status) }
        text.addCertificate(access)
        text.addProcess()
        return text.answer
    }

    /// The maximum number of sites with their own time series. The remaining sites, which have the fewest devices, are
    /// summed up.
    static let siteLimit = 1000

    /// The label value for the remaining sites. It is not a valid site name.
    static let otherSites = "(other)"

    private func addSites(_ all: [HubSite], to text: inout MetricsText) {
        let sites = HubSite.largest(Self.siteLimit, of: all, others: Self.otherSites)
        let devices = "reachability_fleet_devices"
        text.begin(devices, .gauge, "Devices of each site by standing.")
        for site in sites {
            for standing in DevicePresence.Standing.allCases {
                let labels = [("site", site.name), ("standing", standing.rawValue)]
                text.add(devices, labels, site.count(standing))
            }
        }
        let unexplained = "reachability_fleet_unexplained_devices"
        text.begin(unexplained, .gauge, "Devices of each site that are silent without an explanation.")
        for site in sites { text.add(unexplained, [("site", site.name)], site.unexplained) }
        let open = "reachability_fleet_open_incidents"
        text.begin(open, .gauge, "Open incidents of each site.")
        for site in sites { text.add(open, [("site", site.name)], site.incidents.count) }
    }

    private func addIncidents(to text: inout MetricsText) {
        let counts = counts.values
        let incidents = "reachability_fleet_incidents_total"
        text.begin(incidents, .counter, "Incidents that ended since the start of the hub, by fault.")
        for (fault, count) in counts.closed.sorted(by: {
            ($0.key.attribution, $0.key.cause) < ($1.key.attribution, $1.key.cause)
        }) {
            text.add(incidents, [("attribution", fault.attribution), ("cause", fault.cause)], count)
        }
        let refused = "Messages that were refused because they were invalid or too many."
        text.add("reachability_fleet_refused_messages_total", .counter, refused, counts.refused)
        let disputes = "Detections of two devices with one name."
        text.add("reachability_fleet_disputes_total", .counter, disputes, counts.disputed)
    }

    private func addBroker(to text: inout MetricsText) {
        let broker = follower.status
        let connected = "1 while the hub is connected to the broker."
        text.add("reachability_fleet_broker_connected", .gauge, connected, broker.isConnected)
        let connections = "Connections to the broker since the start of the hub."
        text.add("reachability_fleet_broker_connections_total", .counter, connections, broker.connections)
        let overruns = "Messages that were dropped because the queue was full. Their devices send them again."
        text.add("reachability_fleet_overruns_total", .counter, overruns, broker.overruns)
        let fault = "1 while the history cannot be written."
        text.add("reachability_fleet_history_fault", .gauge, fault, writer.fault != nil)
    }
}
