import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// The state of the hub that a page shows.
struct HubView {
    let hub: Hub
    /// The time by the hub's clock, since 1970.
    let now: Duration
    let sites: [HubSite]
    /// The open incidents. Unexplained incidents come first, then the largest.
    let open: [IncidentSummary]
    let clock: PageClock
    private let faults: [DeviceID: Attribution]

    init(_ hub: Hub, now: Duration) {
        (self.hub, self.now, sites) = (hub, now, HubSite.all(hub))
        clock = PageClock(now: now)
        faults = hub.lastingFaults
        open = sites.flatMap(\.incidents).map(IncidentSummary.init).sorted { one, other in
            if one.isUnexplained != other.isUnexplained { return one.isUnexplained }
            return (one.deviceCount, one.start) > (other.deviceCount, other.start)
        }
    }

    /// The numbers of machines by their open outage, such as `without link`, the most frequent first. Silent machines are not included.
    var faultCounts: [(words: String, count: Int)] {
        var states: [DeviceID: String] = [:]
        for incident in hub.book.incidents where incident.isOpen {
            for (name, part) in incident.parts {
                guard let outage = part.inOrder.last(where: { $0.end == nil }),
                    let place = DeviceID(site: incident.site, device: name),
                    hub.devices[place]?.presence.standing != .silent
                else { continue }
                states[place] = FaultDescription.state(outage.reported.attribution, outage.reported.cause)
            }
        }
        let counts = Dictionary(grouping: states.values, by: \.self).mapValues(\.count)
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    func count(_ standing: DevicePresence.Standing) -> Int { sites.reduce(0) { $0 + $1.count(standing) } }

    /// Returns the devices of a site, in the order of lists.
    func devices(of site: String? = nil) -> [HubDevice] {
        hub.devices.values.filter { site == nil || $0.place.site == site }.map { (rank($0), $0) }.sorted {
            ($0.0, $0.1.place) < ($1.0, $1.1.place)
        }.map(\.1)
    }

    /// Returns the position of a device in lists. Devices that are silent for an unknown reason come first.
    func rank(_ device: HubDevice) -> Int {
        if hub.isUnexplained(device.place) { return 0 }
        return 1 + (order.firstIndex(of: device.presence.standing) ?? 0)
    }

    private var order: [DevicePresence.Standing] { [.silent, .unknown, .sleeping, .leaving, .online] }

    func account(of device: HubDevice) -> LedgerAccount { hub.account(of: device, faults) }

    /// Returns a short description of the state of a device.
    func words(_ device: HubDevice) -> String {
        switch device.presence.standing {
        case .online:
            device.presence.report?.path == "notReachable"
                ? "online, without internet" : faults[device.place] == nil ? "online" : "online, with an outage"
        case .silent: "silent, \((hub.verdict(of: device.place) ?? .unexplained).people)"
        case .unknown: "not known yet"
        case .sleeping: "asleep"
        case .leaving:
            "left\(device.presence.report?.reason.map { ", \($0)" } ?? "")"
        }
    }

    /// Returns the time since which a device is in its state; nil if it is not known.
    func since(_ device: HubDevice) -> Duration? {
        switch device.presence.standing {
        case .online: device.gap?.until
        case .silent, .leaving, .sleeping: device.gap?.since
        case .unknown: device.presence.heard
        }
    }
}

extension SilenceVerdict {
    /// The reason of an absence as text.
    var people: String {
        switch self {
        case .planned(let reason): "announced\(reason.map { ": \($0)" } ?? "")"
        case .outage(let outage): FaultDescription.sentence(outage.attribution, outage.cause)
        case .power: "it was off or restarted"
        case .sleep: "it slept"
        case .unobserved: "the broker or the hub was not running"
        case .site: "it had no fault, and others of its site were silent too: their common uplink failed"
        case .beyond: "it had no fault and was the only one: the provider or the broker failed"
        case .unexplained: "reason not known yet"
        }
    }
}

/// Descriptions of faults as text.
enum FaultDescription {
    static func sentence(_ attribution: Attribution, _ cause: OutageCause?) -> String {
        switch (attribution, cause) {
        case (.us, .link?): "its link was down"
        case (.us, .route?): "it had no route"
        case (.us, .address?): "it had no address"
        case (.us, .policy?): "its own policy blocked the path"
        case (.us, let cause?) where cause.rawValue == "power": "it was off or restarted"
        case (.us, _): "it lost the network"
        case (.upstream, .gateway?): "its gateway did not answer"
        case (.upstream, .portal?): "a captive portal blocked the path"
        case (.upstream, _): "the network beyond it failed"
        case (.them, _): "one of its targets did not answer"
        case (.unknown, _), (.up, _): "reason not known yet"
        }
    }

    /// Returns the state of machines with a fault.
    static func state(_ attribution: Attribution, _ cause: OutageCause?) -> String {
        switch (attribution, cause) {
        case (.us, .link?): "without link"
        case (.us, .route?): "without route"
        case (.us, .address?): "without address"
        case (.us, _): "without network"
        case (.upstream, .gateway?): "without gateway"
        case (.upstream, _): "without internet"
        case (.them, _): "with a failing target"
        case (.unknown, _), (.up, _): "with a fault"
        }
    }

    static func heading(_ attribution: Attribution, _ cause: OutageCause?) -> String {
        switch (attribution, cause) {
        case (.us, .link?): "Link down"
        case (.us, .route?): "No route"
        case (.us, .address?): "No address"
        case (.us, let cause?) where cause.rawValue == "power": "Power or reboot"
        case (.us, _): "Network lost"
        case (.upstream, .gateway?): "Gateway not answering"
        case (.upstream, .portal?): "Captive portal"
        case (.upstream, _): "Upstream fault"
        case (.them, _): "Target not answering"
        case (.unknown, _), (.up, _): "Silence"
        }
    }
}

extension Attribution {
    /// The account, which selects the colour and symbol.
    var account: LedgerAccount { TargetState(self).account }
}
