import ReachabilityFleet
package import ReachabilityLedger
package import ReachabilityService

/// What is told of the incidents of a fleet, and to whom it was told. A value; times are by the hub's clock.
///
/// Each incident of the hub is one notification, whatever becomes of it: that its cause is known, that it goes on after all, and that it is
/// over are told of the same one. One that was over before the hub knew of it is not told: a machine that is new tells of all that it
/// remembers.
package struct FleetToldBook: ToldBook {
    /// What becomes of an incident. Times are since 1970.
    package enum Event: Sendable {
        /// It is so now.
        case stands(IncidentSummary, at: Duration)
        /// There is none of that id any more: its machines are forgotten.
        case gone(id: String, at: Duration)
    }

    /// More are not kept: the oldest that are over give way, then the oldest.
    static let limit = 10_000

    package private(set) var incidents: [Incident] = []

    package init() {}

    package mutating func restore(_ incidents: [Incident]) { self.incidents = incidents }

    package mutating func apply(_ configuration: ServiceConfiguration, at now: LedgerInstant) {}

    // MARK: Events

    package mutating func take(_ event: Event) -> Bool {
        switch event {
        case .stands(let summary, let time): return take(summary, at: LedgerInstant(wall: time))
        case .gone(let id, let time):
            guard let index = index(of: id), !incidents[index].isOver else { return false }
            let (incident, now) = (incidents[index], LedgerInstant(wall: time))
            let machines = Incident.Machines(
                names: incident.machines?.names ?? [],
                count: incident.machines?.count ?? 0,
                isUnexplained: false,
                // Whoever was not told of it need not be.
                isHarmless: true
            )
            incidents[index].become(incident.state, machines, from: incident.start, to: now, .unknown, at: now)
            return true
        }
    }

    private mutating func take(_ summary: IncidentSummary, at now: LedgerInstant) -> Bool {
        let known = index(of: summary.id)
        let before = known.map { incidents[$0] }
        // Where nothing was wrong after all it is over for whoever was told, though the machines may not be back.
        let end = summary.end.map { LedgerInstant(wall: $0) } ?? (summary.isHarmless ? before?.end ?? now : nil)
        if known == nil, end != nil { return false }
        let (start, state) = (LedgerInstant(wall: summary.start), TargetState(summary.attribution, summary.cause))
        var incident =
            before ?? Incident(id: summary.id, site: summary.site, start: start, noticed: now, since: now, state: state)
        incident.become(state, Incident.Machines(summary), from: start, to: end, at: now)
        guard incident != before else { return false }
        if let known { incidents[known] = incident } else { incidents.append(incident) }
        makeRoom()
        return true
    }

    /// The latest come last, and most is heard of them.
    private func index(of id: String) -> Int? { incidents.lastIndex { $0.id == id } }

    private mutating func makeRoom() {
        guard incidents.count > Self.limit else { return }
        incidents.remove(at: incidents.firstIndex(where: \.isOver) ?? 0)
    }

    // MARK: Telling

    package mutating func tries(_ notification: Notification, by courier: String) {
        guard let index = index(of: notification.incident.id) else { return }
        incidents[index].tries(by: courier)
    }

    package mutating func told(_ notification: Notification, by courier: String) {
        guard let index = index(of: notification.incident.id) else { return }
        incidents[index].told(notification, by: courier)
    }

    /// Those of which somebody was told stay for as long as the hub may find that they go on.
    package mutating func settle(_ couriers: [String: NotifierSettings]) {
        var counts: [String: Int] = [:]
        var gone: Set<String> = []
        for incident in incidents.reversed() where incident.isOver {
            guard couriers.allSatisfy({ incident.isDone(for: $0.key, of: $0.value) }) else { continue }
            if !incident.told.isEmpty { counts[incident.site, default: 0] += 1 }
            if incident.told.isEmpty || counts[incident.site, default: 0] > FleetIncidentBook.kept {
                gone.insert(incident.id)
            }
        }
        if !gone.isEmpty { incidents.removeAll { gone.contains($0.id) } }
    }
}

extension Incident.Machines {
    fileprivate init(_ summary: IncidentSummary) {
        self.init(
            names: summary.devices,
            count: summary.deviceCount,
            isUnexplained: summary.isUnexplained,
            isHarmless: summary.isHarmless
        )
    }
}

extension Incident {
    /// What of it is written down: the hub knows the rest.
    var kept: Incident {
        Incident(
            id: id,
            site: site,
            start: start,
            noticed: noticed ?? start,
            since: since,
            state: state,
            told: told,
            finished: finished
        )
    }
}

extension LedgerInstant {
    /// - Parameter wall: Since 1970, by the hub's clock.
    init(wall: Duration) {
        self.init(since1970: wall)
    }

    /// Since 1970, by the hub's clock.
    var wall: Duration { .nanoseconds(nanoseconds) }
}
