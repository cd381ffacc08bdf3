import NetworkReachability
package import ReachabilityLedger

/// A change that can lead to notifications.
package enum IncidentChange: Sendable {
    /// An event of the service of this machine.
    case event(ServiceEvent)
    /// The current state of an incident at a site of a fleet.
    case site(SiteIncident, at: LedgerInstant)
    /// The machines of the incident with this id were removed from the fleet.
    case forgotten(String, at: LedgerInstant)
}

/// The incidents that have to be reported, and the state of their deliveries. It groups outages with the same cause. A value type.
package struct IncidentTracker: Sendable {
    /// The maximum time between the starts of outages that form one incident.
    package static let window: Duration = .seconds(30)
    /// The maximum number of incidents. Above it, the oldest incident that has ended is dropped, otherwise the oldest one.
    package static let limit = 10_000

    /// The properties that the outages of one root cause share.
    private struct Root {
        let attribution: Attribution
        /// The cause. Nil for causes that one fault of the machine's connection can have together.
        ///
        /// For example, without its address a machine has no route to one target and no source address for another. Behind a dead router,
        /// one check fails at the gateway and another at the DNS server.
        let cause: OutageCause?
        let namespace: NetworkNamespace
        /// The output interface; nil if it is not known, or if the target's side is at fault.
        let interface: String?
        /// The host; nil unless the target's side is at fault.
        let host: String?

        func isSame(as other: Root) -> Bool {
            attribution == other.attribution && cause == other.cause && namespace == other.namespace
                && host == other.host
                && (interface == other.interface || interface == nil || other.interface == nil)
        }
    }

    /// The incidents, oldest first.
    package private(set) var incidents: [Incident] = []
    /// The number of reported incidents of a site that are kept after their end, because they may continue.
    private let keptPerSite: Int
    private var targets: [String: ServiceTarget] = [:]
    /// The reported states that are not outages: ``Attribution/unknown``, and ``Attribution/up`` for degraded targets.
    private var others: Set<Attribution> = []
    /// The current or last interface of each target.
    private var interfaces: [String: String] = [:]
    /// The names of the targets whose outage was open at the end of the last run and whose state in this run is not known yet.
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

    /// Starts to count the reminders of a worker again, because their interval has changed.
    mutating func restartReminders(of worker: String, every interval: Duration, at now: LedgerInstant) {
        for index in incidents.indices where incidents[index].deliveries[worker] != nil {
            let count = Int((now - incidents[index].start) / interval)
            incidents[index].deliveries[worker]?.digests = count
        }
    }

    // MARK: Changes

    /// Applies a change.
    ///
    /// - Returns: True if an incident has changed.
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
        // For the recipients, a harmless incident has ended, even if the machines are not back.
        let end = incident.end ?? (incident.machines.isHarmless ? before?.end ?? now : nil)
        // A new machine also reports incidents that ended before the hub received a report. They are ignored.
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
            // Recipients that have not received `began` need no `ended`.
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
        case .ledger(.outageBegan(let outage)):
            // An outage that continues after a restart has several intervals.
            begin(target, outage.id, outage.start, outage.intervals[outage.intervals.count - 1])
        case .ledger(.outageRefined(let outage)):
            refine(target, outage)
        case .ledger(.outageEnded(let outage)):
            end(target, outage)
        case .ledger(.opened(let interval)): return open(target, interval)
        case .ledger(.closed(let interval)):
            guard isNotified(interval.state) else { return false }
            finish(target, at: interval.end ?? event.instant, nil, isOutage: false)
        case .ledger(.refined), .explained, .noted, .actorFound, .pushed, .clockStepped, .resumed,
            .maintenancePlanned, .maintenanceCancelled:
            return false
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a state that is not an outage is reported.
    private func isNotified(_ state: TargetState) -> Bool {
        state.isDegraded && others.contains(.up)
            || state.account == .unknown && !state.isPaused && others.contains(.unknown)
    }

    private mutating func open(_ target: String, _ interval: LedgerInterval) -> Bool {
        let state = interval.state
        let isNotified = isNotified(state)
        if isNotified, state.isDegraded, resume(target, interval) { return true }
        var isChanged = false
        if state.account == .up || state.account == .maintenance, awaited.contains(target) {
            let known = find(target).map { incidents[$0.index].members[$0.position].state }
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

    /// Continues the incident of a target that is degraded for a new reason directly after another one.
    ///
    /// - Returns: True if there is such an incident.
    private mutating func resume(_ target: String, _ interval: LedgerInterval) -> Bool {
        for index in incidents.indices.reversed() {
            let position = incidents[index].members.firstIndex { member in
                member.target == target && member.end == interval.start && member.state.isDegraded
            }
            guard let position else { continue }
            incidents[index].members[position].end = nil
            incidents[index].members[position].reason = interval.reason
            return true
        }
        return false
    }

    private mutating func begin(_ target: String, _ id: String, _ start: LedgerInstant, _ interval: LedgerInterval) {
        if awaited.remove(target) != nil, let (index, position) = find(target) {
            // The outage is assumed to have continued while the service was not running.
            incidents[index].members[position].outage = id
            incidents[index].members[position].reason = interval.reason
            set(interval.state, index, position, at: interval.start)
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
        if let index = index(for: member, interval.uncertainty) {
            add(member, to: index)
        } else {
            append(Incident(member))
        }
    }

    private mutating func append(_ incident: Incident) {
        // An outage that begins again at the instant of the last one has the same id. Two incidents with the same id would be reported
        // endlessly.
        incidents.removeAll { $0.id == incident.id }
        incidents.append(incident)
        if incidents.count > Self.limit { incidents.remove(at: incidents.firstIndex(where: \.isOver) ?? 0) }
    }

    /// Returns the index of the open incident to which an outage belongs; nil without one.
    ///
    /// - Parameter uncertainty: The maximum time by which the outage may have begun earlier. Checks of different targets detect the same
    ///   fault at different times.
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

    /// Adds a member to an incident. A target that is affected again before the incident has ended keeps its position.
    private mutating func add(_ member: Incident.Member, to index: Int) {
        if let position = incidents[index].members.firstIndex(where: { $0.target == member.target }) {
            incidents[index].members[position] = member
        } else {
            incidents[index].members.append(member)
        }
    }

    private mutating func refine(_ target: String, _ outage: Outage) {
        guard let last = outage.intervals.last, let (index, position) = find(target, isOutage: true) else { return }
        incidents[index].members[position].reason = last.reason
        let isOther = incidents[index].members[position].state != last.state
        set(last.state, index, position, at: last.start)
        // An incident that was not reported yet may turn out to be part of another.
        let isNew = incidents[index].deliveries.isEmpty && incidents[index].attempted.isEmpty
        let (member, uncertainty) = (incidents[index].members[position], outage.intervals[0].uncertainty)
        guard isOther, isNew, let other = self.index(for: member, uncertainty, except: index) else { return }
        incidents[index].members.remove(at: position)
        add(member, to: other)
        if incidents[index].members.isEmpty { incidents.remove(at: index) }
    }

    private mutating func set(_ state: TargetState, _ index: Int, _ position: Int, at instant: LedgerInstant) {
        if incidents[index].members[position].state.attribution != state.attribution {
            incidents[index].members[position].since = instant
        }
        incidents[index].members[position].state = state
    }

    private mutating func end(_ target: String, _ outage: Outage) {
        awaited.remove(target)
        guard let end = outage.end, let (index, position) = find(target, isOutage: true) else { return }
        let deciding = outage.deciding(at: end)
        finish(target, at: end, outage.ending, isOutage: true)
        // The end is reported with the state that had the longest duration.
        if incidents[index].members[position].outage == outage.id {
            incidents[index].members[position].state = deciding.state
            incidents[index].members[position].reason = deciding.reason
        }
    }

    private mutating func finish(
        _ target: String,
        at instant: LedgerInstant,
        _ ending: Outage.Ending?,
        isOutage: Bool? = nil
    ) {
        guard let (index, position) = find(target, isOutage: isOutage) else { return }
        incidents[index].members[position].end = max(instant, incidents[index].members[position].start)
        incidents[index].members[position].ending = ending
    }

    /// Returns the position of the open member of a target; nil without one.
    ///
    /// - Parameter isOutage: True for a member in an outage, false for one in another reported state, nil for either. The distinction is
    ///   needed because the state after an outage is opened before the outage ends.
    private func find(_ target: String, isOutage: Bool? = nil) -> (index: Int, position: Int)? {
        for (index, incident) in incidents.enumerated().reversed() {
            let position = incident.members.firstIndex { member in
                member.target == target && member.end == nil
                    && (isOutage ?? member.state.isOutage) == member.state.isOutage
            }
            if let position { return (index, position) }
        }
        return nil
    }

    /// Returns the properties by which outages are grouped.
    private func root(of member: Incident.Member) -> Root {
        let (target, state) = (targets[member.target], member.state)
        let isTargetFault = state.attribution == .them
        return Root(
            attribution: state.attribution,
            cause: state.isOfLine ? nil : state.cause,
            namespace: target?.namespace ?? .current,
            interface: isTargetFault ? nil : target?.interface ?? interfaces[member.target],
            host: isTargetFault ? target?.host ?? member.target : nil
        )
    }

    /// Returns a Boolean value that indicates whether the end of an incident may be detected soon.
    ///
    /// - Parameter undecided: The targets for which a running check decides whether they are still down.
    package func isUndecided(_ incident: Incident, _ undecided: Set<String>) -> Bool {
        if awaited.isEmpty, undecided.isEmpty { return false }
        return incident.members.contains { member in
            member.end == nil && (awaited.contains(member.target) || undecided.contains(member.target))
        }
    }

    // MARK: Deliveries

    /// Records that a worker starts a delivery.
    package mutating func willDeliver(_ notification: Notification, by worker: String) {
        guard let index = index(of: notification.incident.id) else { return }
        incidents[index].attempted.insert(worker)
    }

    /// Records that a worker has delivered a notification or has given up.
    package mutating func didDeliver(_ notification: Notification, by worker: String) {
        guard let index = index(of: notification.incident.id) else { return }
        incidents[index].didDeliver(notification, by: worker)
    }

    /// Removes incidents that need no more notifications.
    ///
    /// - Parameter workers: The notifiers of all workers, keyed by the key of the worker.
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

    /// Returns the index of an incident. The search starts at the end, because the latest incidents change most often.
    private func index(of id: String) -> Int? { incidents.lastIndex { $0.id == id } }
}

extension TargetState {
    /// A Boolean value that indicates whether a single fault of the machine's connection can lead to this and similar causes.
    package var isOfLine: Bool {
        switch attribution {
        case .us: [.link, .address, .route, .dns].contains(cause)
        case .upstream: true
        case .them, .unknown, .up: false
        }
    }
}
