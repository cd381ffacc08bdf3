import NetworkReachability
package import ReachabilityLedger

/// What fell together, and who was told of it. A value: it takes the events of the service in their order, and is asked what is to be
/// told.
package struct IncidentBook: Sendable {
    /// What falls within this time, by the fault of the same party and at the same place, is one incident.
    package static let window: Duration = .seconds(30)
    /// More are not kept: the oldest that are over give way, then the oldest.
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

    package private(set) var incidents: [Incident] = []
    /// Where targets are.
    private var targets: [String: ServiceTarget] = [:]
    /// The states other than outages that are notified: ``Attribution/unknown``, and ``Attribution/up`` for targets that are degraded.
    private var others: Set<Attribution> = []
    /// The interfaces by which packets to them leave, or left last.
    private var interfaces: [String: String] = [:]
    /// Targets that lasted in an earlier run, of which nothing is known yet in this one.
    private var awaited: Set<String> = []
    /// How many were let go of untold.
    package private(set) var lost: UInt64 = 0

    package init() {}

    /// What was kept of an earlier run.
    package mutating func restore(_ incidents: [Incident]) {
        self.incidents = incidents
        awaited = Set(incidents.flatMap { $0.members.filter { $0.end == nil }.map(\.target) })
    }

    /// What is watched from now on, and who is told.
    package mutating func apply(_ targets: [ServiceTarget], _ notifiers: [NotifierSettings], at now: LedgerInstant) {
        self.targets = Dictionary(targets.map { ($0.name, $0) }) { _, last in last }
        others = notifiers.reduce(into: []) { $0.formUnion($1.only.intersection([.unknown, .up])) }
        interfaces = interfaces.filter { self.targets[$0.key] != nil }
        for name in awaited where self.targets[name] == nil { finish(name, at: now, .unknown) }
        awaited.formIntersection(self.targets.keys)
    }

    // MARK: Events

    /// - Returns: Whether anything changed.
    package mutating func take(_ event: ServiceEvent) -> Bool {
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
            // It lasted while nobody observed, as far as anybody knows.
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

    /// Puts a target to those that fell with it.
    private mutating func join(_ member: Incident.Member, _ uncertainty: Duration) {
        if let index = index(for: member, uncertainty) {
            add(member, to: index)
        } else {
            incidents.append(Incident(member))
            makeRoom()
        }
    }

    /// The open incident that an outage belongs to.
    ///
    /// - Parameter uncertainty: How much earlier it may have begun: a check finds it some time after others have found the same.
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

    /// A target that fell with the others, and falls again before they are back, keeps its place.
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
        // What nobody was told of may turn out to have fallen with others.
        let isUntold = incidents[index].told.isEmpty && incidents[index].tried.isEmpty
        let (member, uncertainty) = (incidents[index].members[place], outage.intervals[0].uncertainty)
        guard isOther, isUntold, let other = self.index(for: member, uncertainty, except: index) else { return }
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
        // How it is told at the end is how it was for longest.
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

    /// Where a target is that lasts.
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

    /// Whether a target of an incident lasted when an earlier run ended, and nothing is known of it in this one, or a check is about to
    /// decide.
    package func isUndecided(_ incident: Incident, _ undecided: Set<String>) -> Bool {
        if awaited.isEmpty, undecided.isEmpty { return false }
        return incident.members.contains { member in
            member.end == nil && (awaited.contains(member.target) || undecided.contains(member.target))
        }
    }

    // MARK: Telling

    /// A courier begins to tell something.
    package mutating func tries(_ notification: Notification, by courier: String) {
        guard let index = incidents.firstIndex(where: { $0.id == notification.incident.id }) else { return }
        incidents[index].tries(by: courier)
    }

    /// A courier has told something, or gave up telling it.
    package mutating func told(_ notification: Notification, by courier: String) {
        guard let index = incidents.firstIndex(where: { $0.id == notification.incident.id }) else { return }
        incidents[index].told(notification, by: courier)
    }

    /// Lets go of incidents that need not be told of any more.
    ///
    /// - Parameter couriers: All there are, with the notifiers they belong to.
    package mutating func settle(_ couriers: [String: NotifierSettings]) {
        incidents.removeAll { incident in
            incident.isOver && couriers.allSatisfy { incident.isDone(for: $0.key, of: $0.value) }
        }
    }

    private mutating func makeRoom() {
        guard incidents.count > Self.limit else { return }
        incidents.remove(at: incidents.firstIndex(where: \.isOver) ?? 0)
        lost += 1
    }
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
