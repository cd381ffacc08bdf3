import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import ReachabilityServer
import ReachabilityService

/// The state of the hub that a page shows.
struct HubView {
    let hub: Hub
    /// The time by the hub's clock, since 1970.
    let now: Duration
    let sites: [HubSite]
    /// The open incidents. Unexplained incidents come first, then the largest.
    let open: [IncidentSummary]
    let clock: PageClock
    private let faults: [DeviceID: FleetIncident.ReportedOutage]

    init(_ hub: Hub, now: Duration) {
        (self.hub, self.now, sites) = (hub, now, HubSite.all(hub))
        clock = PageClock(now: now)
        faults = hub.lastingFaults
        open = hub.book.incidents.filter(\.isOpen).map(IncidentSummary.init).sorted { one, other in
            if one.isUnexplained != other.isUnexplained { return one.isUnexplained }
            return (one.deviceCount, one.start) > (other.deviceCount, other.start)
        }
    }

    /// Returns a sentence about the machines of sites, such as `50 of 120 machines are without link, 30 silent`, and its account.
    func headline(of sites: [HubSite]) -> (account: LedgerAccount, sentence: String) {
        func count(_ standing: DevicePresence.Standing) -> Int { sites.reduce(0) { $0 + $1.count(standing) } }
        let (all, away) = (sites.reduce(0) { $0 + $1.deviceCount }, count(.sleeping) + count(.leaving))
        let (affected, unknownCount) = (HubSite.affected(at: sites), count(.unknown))
        let states = affected.isEmpty && unknownCount > 0 ? [(words: "not known yet", count: unknownCount)] : affected
        guard let first = states.first else {
            if away > 0 { return (.up, "\(all - away) of \(all) machines are online, \(away) asleep or shut down") }
            return (.up, all == 1 ? "The machine is online" : "All \(all) machines are online")
        }
        let names = Set(sites.map(\.name))
        let own = affected.isEmpty ? [] : open.filter { !names.isDisjoint(with: $0.sites) }
        let worst = own.first { $0.attribution != .unknown }
        let subject = "\(first.count) of \(all) \(all == 1 ? "machine" : "machines") \(first.count == 1 ? "is" : "are")"
        let others = states.dropFirst().map { ", \($0.count) \($0.words)" }.joined()
        return (worst?.attribution.account ?? .unknown, "\(subject) \(first.words)\(others)")
    }

    /// Returns the devices of a site, in the order of lists.
    func devices(of site: String? = nil) -> [HubDevice] {
        hub.devices.values.filter { site == nil || $0.place.site == site }.map { (rank($0), $0) }.sorted {
            ($0.0, $0.1.place) < ($1.0, $1.1.place)
        }.map(\.1)
    }

    /// Returns the position of a device in lists: unexplained silence, other silence, and outages come first.
    func rank(_ device: HubDevice) -> Int {
        if hub.isUnexplained(device.place) { return 0 }
        switch device.presence.standing {
        case .silent: return 1
        case _ where faults[device.place] != nil: return 2
        case .unknown: return 3
        case .sleeping: return 4
        case .leaving: return 5
        case .online: return 6
        }
    }

    func account(of device: HubDevice) -> LedgerAccount { hub.account(of: device, faults) }

    /// Returns the state of a device in a few words.
    func state(of device: HubDevice) -> String {
        guard device.presence.standing == .online else { return FleetParts.words(device.presence.standing) }
        return faults[device.place].map(FaultDescription.state)
            ?? (device.presence.report?.path == "notReachable" ? "without internet" : "online")
    }

    /// Returns the reason of the state of a device; nil if there is none to report.
    func reason(of device: HubDevice) -> String? {
        switch device.presence.standing {
        case .silent: (hub.verdict(of: device.place) ?? .unexplained).people
        case .leaving: device.presence.report?.reason
        case .online:
            faults[device.place].map {
                "\(FaultDescription.heading($0.reported.attribution, $0.reported.cause)): \($0.reported.target)"
            }
        case .unknown, .sleeping: nil
        }
    }

    /// Returns the time since which a device is in its state; nil if it is not known. The time of an outage is that of the machine.
    func since(_ device: HubDevice) -> Duration? {
        switch device.presence.standing {
        case .online: faults[device.place]?.start ?? device.gap?.until
        case .silent, .leaving, .sleeping: device.gap?.since
        case .unknown: device.presence.lastMessage
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

    /// Returns the state of a machine with an open outage.
    static func state(_ outage: FleetIncident.ReportedOutage) -> String {
        switch (outage.reported.attribution, outage.reported.cause) {
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

    /// Returns a heading such as `No route at north`, or `erp is down from 3 of 4 sites`.
    ///
    /// - Parameters:
    ///   - spread: The affected sites; nil if only one is affected.
    ///   - isOver: Whether the incident has ended.
    static func heading(
        _ attribution: Attribution,
        _ cause: OutageCause?,
        at site: String,
        _ spread: Incident.Spread?,
        isOver: Bool
    ) -> String {
        guard let spread else { return "\(heading(attribution, cause)) at \(site)" }
        let places = "\(spread.sites.count) of \(spread.total) sites"
        guard let target = spread.target else { return "\(heading(attribution, cause)) at \(places)" }
        return "\(target) \(isOver ? "was" : "is") down from \(places)"
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
