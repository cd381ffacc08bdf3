import NetworkReachability
package import ReachabilityLedger

/// A change that notifications may follow from.
package enum IncidentChange: Sendable {
    /// An event of the service of this machine.
    case event(ServiceEvent)
    /// The current state of an incident at a site of a fleet.
    case site(SiteIncident, at: LedgerInstant)
    /// The machines of the incident with this id were forgotten.
    case forgotten(String, at: LedgerInstant)
}

/// The incidents that are to be notified, and their deliveries. Groups outages of the same cause. A value.
package struct IncidentTracker: Sendable {
    /// Outages that begin within this time with the same attribution and at the same place are one incident.
    package static let window: Duration = .seconds(30)
    /// The maximum number of incidents. The oldest that are over are dropped first.
    package static let limit = 10_000

    /// The properties that the outages of one root cause share.
    private struct Root {
        let attribution: Attribution
        /// Nil for the causes that one fault has for different targets: without its address a machine has no route to one target, and no
        /// source address for another; behind a dead router one check fails at the gateway, and another at the DNS server.
        let cause: OutageCause?
        let namespace: NetworkNamespace
        /// The interface that the packets leave by; nil if it is not known, or another party is at fault.
        let interface: String?
        /// The host, if that is at fault.
        let host: String?

        func isSame(as other: Root) -> Bool {
            attribution == other.attribution && cause == other.cause && namespace == other.namespace
                && host == other.host
                && (interface == other.interface || interface == nil || other.interface == nil)
        }
    }

    /// The oldest first.
    package private(set) var incidents: [Incident] = []
    /// The number of notified incidents of a site that are kept after their end, because they may continue.
    private let keptPerSite: Int
    private var targets: [String: ServiceTarget] = [:]
    /// The states other than outages that are notified: ``Attribution/unknown``, and ``Attribution/up`` for targets that are degraded.
    private var others: Set<Attribution> = []
    /// The current or last interface of each target.
    private var interfaces: [String: String] = [:]
    /// Targets whose outage lasted in an earlier run, and whose state in this run is not known yet.
    private var awaited: Set<String> = []

    package init(keptPerSite: Int = 0) {
        self.keptPerSite = keptPerSite
    }

    /// Continues with the incidents of an earlier run.
    package mutating func restore(_ incidents: [Incident]) {
        self.incidents = incidents
        let own = incidents.filter { $0.machines == nil }
        awaited = Set(own.flatMap { $0.members.filter { $0.end == nil }.map(\.target) })
    }

    /// Sets the targets and the notifiers.
    package mutating func apply(_ targets: [ServiceTarget], _ notifiers: [NotifierSettings], at now: LedgerInstant) {
        self.targets = Dictionary(targets.map { ($0.name, $0) }) { _, last in last }
        others = notifiers.reduce(into: []) { $0.formUnion($1.only.intersection([.unknown, .up])) }
        interfaces = interfaces.filter { self.targets[$0.key] != nil }
        for name in awaited where self.targets[name] == nil { finish(name, at: now, .unknown) }
        awaited.formIntersection(self.targets.keys)
    }

    // MARK: Changes

    /// - Returns: Whether an incident has changed.
    package mutating func take(_ change: IncidentChange) -> Bool {
        switch change {
        case .event(let event): take(event)
        case .site(let incident, let now): take(incident, at: now)
        case .forgotten(let id, let now): forget(id, at: now)
        }
    }

    private mutating func take(_ incident: SiteIncident, at now: LedgerInstant) -> Bool {
        let known = index(of: incident.id)
        let before = known.map { incidents[$0] }
        // A harmless incident is over for its recipients, though the machines may not be back.
        let end = incident.end ?? (incident.machines.isHarmless ? before?.end ?? now : nil)
        // A new machine reports incidents that were over before the hub knew of them.
        if known == nil, end != nil { return false }
        var changed =
            before
            ?? Incident(
                id: incident.id,
                site: incident.site,
                start: incident.start,
                noticed: now,
                since: now,
                state: incident.state
            )
        changed.update(incident, end: end, at: now)
        guard changed != before else { return false }
        if let known { incidents[known] = changed } else { append(changed) }
        return true
    }

    private mutating func forget(_ id: String, at now: LedgerInstant) -> Bool {
        guard let index = index(of: id), !incidents[index].isOver else { return false }
        let (incident, machines) = (incidents[index], incidents[index].machines)
        let forgotten = SiteIncident(
            id: id,
            site: incident.site,
            start: incident.start,
            end: now,
            state: incident.state,
            // Recipients that have not received the beginning need no end.
            machines: .init(
                names: machines?.names ?? [],
                count: machines?.count ?? 0,
                isUnexplained: false,
                isHarmless: true
            )
        )
        incidents[index].update(forgotten, end: now, ending: .unknown, at: now)
        return true
    }

    private mutating func take(_ event: ServiceEvent) -> Bool {
        guard let target = event.target else { return false }
        if let interface = event.interface, targets[target] != nil { interfaces[target] = interface }
        switch event.kind {
        case .outageBegan(let outage):
            // One that continues after a restart has several.
            begin(target, outage.id, outage.start, outage.intervals[outage.intervals.count - 1])
        case .outageRefined(let outage):
            refine(target, outage)
        case .outageEnded(let outage):
            end(target, outage)
        case .intervalOpened(let interval): return open(target, interval)
        case .intervalClosed(let interval):
            guard isNotified(interval.state) else { return false }
            finish(target, at: interval.end ?? event.instant, nil, isOutage: false)
        case .intervalRefined, .explained, .noted, .actorFound, .clockStepped, .resumed, .maintenancePlanned,
            .maintenanceCancelled:
            return false
        }
        return true
    }

    /// Returns true if a state that is not an outage is notified.
    private func isNotified(_ state: TargetState) -> Bool {
        state.isDegraded && others.contains(.up) || state.account == .unknown && others.contains(.unknown)
    }

    private mutating func open(_ target: String, _ interval: LedgerInterval) -> Bool {
        let state = interval.state
        let isNotified = isNotified(state)
        if isNotified, state.isDegraded, resume(target, interval) { return true }
        var isChanged = false
        if state.account == .up || state.account == .maintenance, awaited.contains(target) {
            let known = find(target).map { incidents[$0.index].members[$0.place].state }
            if !isNotified || known?.isDegraded != true {
                // The end was not observed.
                awaited.remove(target)
                finish(target, at: interval.start, .unknown)
                isChanged = true
            }
        }
        guard isNotified, state.isDegraded || !awaited.contains(target) else { return isChanged }
        begin(target, Outage.id(of: target, from: interval.start), interval.start, interval)
        return true
    }

    /// Continues an incident of a target that is degraded for another reason than a moment ago.
    private mutating func resume(_ target: String, _ interval: LedgerInterval) -> Bool {
        for index in incidents.indices.reversed() {
            let place = incidents[index].members.firstIndex { member in
                member.target == target && member.end == interval.start && member.state.isDegraded
            }
            guard let place else { continue }
            incidents[index].members[place].end = nil
            incidents[index].members[place].reason = interval.reason
            return true
        }
        return false
    }

    private mutating func begin(_ target: String, _ id: String, _ start: LedgerInstant, _ interval: LedgerInterval) {
        if awaited.remove(target) != nil, let (index, place) = find(target) {
            // The outage is assumed to have lasted while the service did not run.
            incidents[index].members[place].outage = id
            incidents[index].members[place].reason = interval.reason
            set(interval.state, index, place, at: interval.start)
            return
        }
        let member = Incident.Member(
            target: target,
            outage: id,
            start: start,
            state: interval.state,
            since: interval.start,
            reason: interval.reason
        )
        join(member, interval.uncertainty)
    }

    /// Adds a target to its incident.
    private mutating func join(_ member: Incident.Member, _ uncertainty: Duration) {
        if let index = index(for: member, uncertainty) {
            add(member, to: index)
        } else {
            append(Incident(member))
        }
    }

    private mutating func append(_ incident: Incident) {
        // An outage that begins again at the instant of the last one has the same id. Two incidents with one id would be notified for ever.
        incidents.removeAll { $0.id == incident.id }
        incidents.append(incident)
        if incidents.count > Self.limit { incidents.remove(at: incidents.firstIndex(where: \.isOver) ?? 0) }
    }

    /// The open incident that an outage belongs to.
    ///
    /// - Parameter uncertainty: How much earlier the outage may have begun. Checks of different targets find a fault at different times.
    private func index(
        for member: Incident.Member,
        _ uncertainty: Duration,
        except excluded: Int? = nil
    ) -> Int? {
        let root = root(of: member)
        return incidents.indices.last { index in
            guard index != excluded, let other = incidents[index].members.last(where: { $0.end == nil }) else {
                return false
            }
            return self.root(of: other).isSame(as: root)
                && incidents[index].start - member.start <= Self.window
                && member.start - incidents[index].start <= Self.window + uncertainty
                && !incidents[index].members.contains { $0.target == member.target && $0.end == nil }
        }
    }

    /// A target that is affected again before the incident is over keeps its place.
    private mutating func add(_ member: Incident.Member, to index: Int) {
        if let place = incidents[index].members.firstIndex(where: { $0.target == member.target }) {
            incidents[index].members[place] = member
        } else {
            incidents[index].members.append(member)
        }
    }

    private mutating func refine(_ target: String, _ outage: Outage) {
        guard let last = outage.intervals.last, let (index, place) = find(target, isOutage: true) else { return }
        incidents[index].members[place].reason = last.reason
        let isOther = incidents[index].members[place].state != last.state
        set(last.state, index, place, at: last.start)
        // An incident without a delivery may turn out to be part of another.
        let isNew = incidents[index].deliveries.isEmpty && incidents[index].attempted.isEmpty
        let (member, uncertainty) = (incidents[index].members[place], outage.intervals[0].uncertainty)
        guard isOther, isNew, let other = self.index(for: member, uncertainty, except: index) else { return }
        incidents[index].members.remove(at: place)
        add(member, to: other)
        if incidents[index].members.isEmpty { incidents.remove(at: index) }
    }

    private mutating func set(_ state: TargetState, _ index: Int, _ place: Int, at instant: LedgerInstant) {
        if incidents[index].members[place].state.attribution != state.attribution {
            incidents[index].members[place].since = instant
        }
        incidents[index].members[place].state = state
    }

    private mutating func end(_ target: String, _ outage: Outage) {
        awaited.remove(target)
        guard let end = outage.end, let (index, place) = find(target, isOutage: true) else { return }
        let deciding = outage.deciding(at: end)
        finish(target, at: end, outage.ending, isOutage: true)
        // The end is notified with the state that lasted longest.
        if incidents[index].members[place].outage == outage.id {
            incidents[index].members[place].state = deciding.state
            incidents[index].members[place].reason = deciding.reason
        }
    }

    private mutating func finish(
        _ target: String,
        at instant: LedgerInstant,
        _ ending: Outage.Ending?,
        isOutage: Bool? = nil
    ) {
        guard let (index, place) = find(target, isOutage: isOutage) else { return }
        incidents[index].members[place].end = max(instant, incidents[index].members[place].start)
        incidents[index].members[place].ending = ending
    }

    /// Returns the place of a target that is affected.
    ///
    /// - Parameter isOutage: True for a member in an outage, false for one in another state that is notified, nil for either. The state after an
    ///   outage is opened before the outage ends.
    private func find(_ target: String, isOutage: Bool? = nil) -> (index: Int, place: Int)? {
        for (index, incident) in incidents.enumerated().reversed() {
            let place = incident.members.firstIndex { member in
                member.target == target && member.end == nil
                    && (isOutage ?? member.state.isOutage) == member.state.isOutage
            }
            if let place { return (index, place) }
        }
        return nil
    }

    private func root(of member: Incident.Member) -> Root {
        let (target, state) = (targets[member.target], member.state)
        let isTheirs = state.attribution == .them
        return Root(
            attribution: state.attribution,
            cause: state.isOfLine ? nil : state.cause,
            namespace: target?.namespace ?? .current,
            interface: isTheirs ? nil : target?.interface ?? interfaces[member.target],
            host: isTheirs ? target?.host ?? member.target : nil
        )
    }

    /// Whether the end of an incident may be known soon.
    ///
    /// - Parameter undecided: The targets for which a check is about to decide whether they are still down.
    package func isUndecided(_ incident: Incident, _ undecided: Set<String>) -> Bool {
        if awaited.isEmpty, undecided.isEmpty { return false }
        return incident.members.contains { member in
            member.end == nil && (awaited.contains(member.target) || undecided.contains(member.target))
        }
    }

    // MARK: Deliveries

    /// Records that a worker begins a delivery.
    package mutating func willDeliver(_ notification: Notification, by worker: String) {
        guard let index = index(of: notification.incident.id) else { return }
        incidents[index].willDeliver(by: worker)
    }

    /// Records a delivery, or one that was given up.
    package mutating func didDeliver(_ notification: Notification, by worker: String) {
        guard let index = index(of: notification.incident.id) else { return }
        incidents[index].didDeliver(notification, by: worker)
    }

    /// Removes incidents of which nothing more is to be notified.
    ///
    /// - Parameter workers: All workers by their keys, with their notifiers.
    package mutating func settle(_ workers: [String: NotifierSettings]) {
        var counts: [String: Int] = [:]
        var done: Set<String> = []
        for incident in incidents.reversed() where incident.isOver {
            guard workers.allSatisfy({ incident.isDone(for: $0.key, of: $0.value) }) else { continue }
            if !incident.deliveries.isEmpty { counts[incident.site, default: 0] += 1 }
            if incident.deliveries.isEmpty || counts[incident.site, default: 0] > keptPerSite {
                done.insert(incident.id)
            }
        }
        if !done.isEmpty { incidents.removeAll { done.contains($0.id) } }
    }

    /// The latest incidents are last, and change most often.
    private func index(of id: String) -> Int? { incidents.lastIndex { $0.id == id } }
}

extension TargetState {
    /// Whether the cause is one of those that a single fault of the machine's connection has for different targets.
    fileprivate var isOfLine: Bool {
        switch attribution {
        case .us: [.link, .address, .route, .dns].contains(cause)
        case .upstream: true
        case .them, .unknown, .up: false
        }
    }
}
