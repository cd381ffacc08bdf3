import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer

/// The state of the hub for a page.
struct HubView {
    let hub: Hub
    /// The time by the hub's clock, since 1970.
    let now: Duration
    let sites: [HubSite]
    /// The open incidents: unexplained ones first, then the largest.
    let open: [IncidentSummary]
    let clock: PageClock
    private let faults: [FleetPlace: Attribution]

    init(_ hub: Hub, now: Duration) {
        (self.hub, self.now, sites) = (hub, now, HubSite.all(hub))
        clock = PageClock(now: now)
        faults = hub.lastingFaults
        open = sites.flatMap(\.incidents).map(IncidentSummary.init).sorted { one, other in
            if one.isUnexplained != other.isUnexplained { return one.isUnexplained }
            return (one.deviceCount, one.start) > (other.deviceCount, other.start)
        }
    }

    func count(_ standing: DevicePresence.Standing) -> Int { sites.reduce(0) { $0 + $1.count(standing) } }

    /// The devices of a site, in the order of lists.
    func devices(of site: String? = nil) -> [HubDevice] {
        hub.devices.values.filter { site == nil || $0.place.site == site }.map { (rank($0), $0) }.sorted {
            ($0.0, $0.1.place) < ($1.0, $1.1.place)
        }.map(\.1)
    }

    /// The order of a device in lists: silent ones without an explanation come first.
    func rank(_ device: HubDevice) -> Int {
        if hub.isUnexplained(device.place) { return 0 }
        return 1 + (order.firstIndex(of: device.presence.standing) ?? 0)
    }

    private var order: [DevicePresence.Standing] { [.silent, .unknown, .sleeping, .leaving, .online] }

    func account(of device: HubDevice) -> LedgerAccount { hub.account(of: device, faults) }

    /// The state of a device in a few words.
    func words(_ device: HubDevice) -> String {
        switch device.presence.standing {
        case .online:
            device.presence.report?.path == "notReachable"
                ? "online, without the internet" : faults[device.place] == nil ? "online" : "online, with an outage"
        case .silent: "silent, \((hub.verdict(of: device.place) ?? .unexplained).people)"
        case .unknown: "not heard yet"
        case .sleeping: "asleep"
        case .leaving:
            "left\(device.presence.report?.reason.map { ", \($0)" } ?? "")"
        }
    }

    /// The time since which a device is in its state, if it is known.
    func since(_ device: HubDevice) -> Duration? {
        switch device.presence.standing {
        case .online: device.gap?.until
        case .silent, .leaving, .sleeping: device.gap?.since
        case .unknown: device.presence.heard
        }
    }
}

extension SilenceVerdict {
    /// The reason of a silence in words.
    var people: String {
        switch self {
        case .planned(let reason): "as it had said\(reason.map { ": \($0)" } ?? "")"
        case .outage(let outage): FaultDescription.sentence(outage.attribution, outage.cause)
        case .power: "it was off, or started again"
        case .sleep: "it slept"
        case .unobserved: "nobody listened: the broker or the hub was away"
        case .site: "it was well, and so were others that fell with it: what they share was away"
        case .beyond: "it was well, and alone: the provider or the broker"
        case .unexplained: "nobody knows why yet"
        }
    }
}

/// Describes faults for people.
enum FaultDescription {
    static func sentence(_ attribution: Attribution, _ cause: OutageCause?) -> String {
        switch (attribution, cause) {
        case (.us, .link?): "its link was down"
        case (.us, .route?): "it had no route"
        case (.us, .address?): "it had no address"
        case (.us, .policy?): "it forbade the way out"
        case (.us, let cause?) where cause.rawValue == "power": "it was off, or started again"
        case (.us, _): "it had lost the network"
        case (.upstream, .gateway?): "its gateway did not answer"
        case (.upstream, .portal?): "a captive portal was in the way"
        case (.upstream, _): "what lies beyond it was away"
        case (.them, _): "a target of it did not answer"
        case (.unknown, _), (.up, _): "nobody knows why yet"
        }
    }

    static func heading(_ attribution: Attribution, _ cause: OutageCause?) -> String {
        switch (attribution, cause) {
        case (.us, .link?): "Link down"
        case (.us, .route?): "No route"
        case (.us, .address?): "No address"
        case (.us, let cause?) where cause.rawValue == "power": "Power or reboot"
        case (.us, _): "Cut off"
        case (.upstream, .gateway?): "Gateway away"
        case (.upstream, .portal?): "Captive portal"
        case (.upstream, _): "Beyond the machines"
        case (.them, _): "A target away"
        case (.unknown, _), (.up, _): "Silence"
        }
    }
}

extension Attribution {
    /// The account that decides colour and sign.
    var account: LedgerAccount { TargetState(self).account }
}
