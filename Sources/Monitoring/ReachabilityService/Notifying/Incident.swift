package import ReachabilityLedger

/// A group of outages with the same root cause. They are reported together.
package struct Incident: Hashable, Sendable {
    /// An affected target.
    package struct Member: Hashable, Sendable {
        package let target: String
        /// The id of the outage. It changes if the service restarts during the outage.
        package internal(set) var outage: String
        /// The start of the outage.
        package let start: LedgerInstant
        /// The current state. After the end, the state with the longest duration.
        package internal(set) var state: TargetState
        /// The start of the current attribution.
        package internal(set) var since: LedgerInstant
        /// The reason of the state; nil if it is not known.
        package internal(set) var reason: String?
        /// The end of the outage; nil if it is ongoing.
        package internal(set) var end: LedgerInstant?
        /// The event that ended the outage. Nil for an ongoing outage and for a state that is not an outage.
        package internal(set) var ending: Outage.Ending?
    }

    /// The attribution and the cause of an incident, which are labels of alerts.
    package struct Labels: Hashable, Sendable {
        package let attribution: Attribution
        package let cause: OutageCause?
    }

    /// The notifications that one recipient has received of an incident.
    package struct Delivery: Hashable, Sendable {
        /// The labels of the last notification.
        package var labels: Labels
        /// The number of `refined` notifications, which report a changed attribution.
        package var refinements = 0
        /// The number of the last digest.
        package var digests = 0
        /// The number of `ended` notifications. There can be several, because an incident of a fleet can continue after its end.
        package var endings = 0

        package init(labels: Labels, refinements: Int = 0, digests: Int = 0, endings: Int = 0) {
            self.labels = labels
            // The numbers may come from a damaged database row. The limit prevents an overflow.
            (self.refinements, self.digests, self.endings) = (
                min(refinements, .max / 2), digests, min(endings, .max / 2)
            )
        }
    }

    /// The affected machines of a fleet.
    package struct Machines: Hashable, Sendable {
        /// The first names in alphabetical order.
        package let names: [String]
        /// The total number of affected machines.
        package let count: Int
        /// A Boolean value that indicates whether a machine is silent for an unknown reason.
        package let isUnexplained: Bool
        /// A Boolean value that indicates whether no machine had a fault. Then the end is reported only if the beginning was.
        package let isHarmless: Bool
        /// The sites of the machines; nil if only one site is affected.
        package let spread: Spread?

        package init(names: [String], count: Int, isUnexplained: Bool, isHarmless: Bool, spread: Spread? = nil) {
            (self.names, self.count) = (names, count)
            (self.isUnexplained, self.isHarmless, self.spread) = (isUnexplained, isHarmless, spread)
        }
    }

    /// The sites of an incident that affects several sites of a fleet.
    package struct Spread: Hashable, Sendable {
        /// The target that the machines cannot reach; nil for another fault.
        package let target: String?
        /// The names of the affected sites in alphabetical order.
        package let sites: [String]
        /// The number of sites of the fleet.
        package let total: Int

        package init(target: String?, sites: [String], total: Int) {
            (self.target, self.sites, self.total) = (target, sites, total)
        }
    }

    /// The id of the first outage.
    package let id: String
    /// The affected targets, sorted by the start of their outages. Never empty.
    package internal(set) var members: [Member]
    /// The notifications that were delivered, keyed by the key of the worker.
    package internal(set) var deliveries: [String: Delivery] = [:]
    /// The keys of the workers that have started a delivery. A recipient that may have received `began` also receives `ended`.
    package internal(set) var attempted: Set<String> = []
    /// The keys of the workers that have delivered the end.
    package internal(set) var finished: Set<String> = []
    /// The affected machines of a fleet; nil for an incident of targets of this machine.
    package internal(set) var machines: Machines?
    /// The time at which a hub received the first report of the incident, or of its continuation. Nil for an incident of this machine.
    package internal(set) var noticed: LedgerInstant?

    init(_ member: Member) {
        (id, members) = (member.outage, [member])
    }

    /// Creates an incident from the history.
    init(id: String, _ members: [Member], deliveries: [String: Delivery], finished: Set<String>) {
        (self.id, self.members, self.deliveries, self.finished) = (id, members, deliveries, finished)
    }

    /// The start of the first outage.
    package var start: LedgerInstant { members[0].start }

    /// The earliest instant at which the incident could have been reported.
    var known: LedgerInstant { max(start, noticed ?? start) }

    /// A Boolean value that indicates whether all outages have ended.
    package var isOver: Bool { members.allSatisfy { $0.end != nil } }

    /// The members that are still affected; after the end of the incident, all.
    var affected: [Member] { isOver ? members : members.filter { $0.end == nil } }

    /// The end of the last outage; nil if an outage is ongoing.
    package var end: LedgerInstant? { isOver ? members.compactMap(\.end).max() : nil }

    /// The event that ended the last outage; `unknown` if that is unknown for any outage.
    package var ending: Outage.Ending? {
        if members.contains(where: { $0.ending == .unknown }) { return .unknown }
        return isOver ? members.last { $0.end == end }?.ending : nil
    }

    /// The member that represents the incident: the first that is still affected, otherwise the first.
    private var leader: Member { members.first { $0.end == nil } ?? members[0] }

    package var state: TargetState { leader.state }

    package var reason: String? { leader.reason }

    /// The start of the current attribution.
    package var since: LedgerInstant { leader.since }

    /// Returns a copy with only the members that a notifier reports; nil without such members.
    package func part(of notifier: NotifierSettings) -> Incident? {
        guard notifier.targets != nil else { return self }
        if let sites = machines?.spread?.sites { return sites.contains(where: notifier.reports) ? self : nil }
        var part = self
        part.members = members.filter { notifier.reports($0.target) }
        return part.members.isEmpty ? nil : part
    }
}

/// A message about an incident for one recipient.
package struct Notification: Hashable, Sendable {
    /// The event that a notification reports.
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case began
        /// The attribution has changed.
        case refined
        case ended
        /// The incident has continued for another ``NotifierSettings/reminder``.
        case digest
        /// A user tests the channel.
        case test
    }

    /// The names of the placeholders in templates, which are those of the variables of programs in lower case.
    static let fields = common + ["target", "targets", "outage", "reason", "ending", "actor"]
    /// The names for a hub.
    static let hubFields =
        common + ["page", "site", "sites", "target", "devices", "device_count", "unexplained", "harmless"]
    private static let common = [
        "title", "message", "text", "event", "id", "notifier", "host", "incident", "attribution", "cause", "start",
        "end", "duration_ms", "delayed",
    ]

    package let event: Event
    /// The incident, with only the targets that the notifier reports.
    package let incident: Incident
    /// The number of the notification among those with the same event, from 1.
    package let number: Int
    /// The earliest instant at which the notification could be delivered.
    package let due: LedgerInstant
    /// The labels of the previous notification; nil for the first one.
    package let previous: Incident.Labels?
    /// A Boolean value that indicates whether the notification is late, because earlier attempts failed.
    package var isDelayed = false

    /// The identifier. It is the same for each attempt to deliver the notification.
    package var id: String {
        switch event {
        case .began, .test: "\(incident.id)-\(event.rawValue)"
        case .ended: "\(incident.id)-\(event.rawValue)" + (number > 1 ? "-\(number)" : "")
        case .refined, .digest: "\(incident.id)-\(event.rawValue)-\(number)"
        }
    }
}

extension TargetState {
    /// The attribution and the cause.
    package var labels: Incident.Labels { .init(attribution: attribution, cause: cause) }
}

// Incidents at the sites of a fleet. The only member of such an incident is the site.

extension Incident {
    /// Creates an ongoing incident at a site.
    ///
    /// - Parameters:
    ///   - noticed: The time at which the hub received the first report.
    ///   - since: The start of the current attribution.
    package init(
        id: String,
        site: String,
        start: LedgerInstant,
        noticed: LedgerInstant,
        since: LedgerInstant,
        state: TargetState,
        deliveries: [String: Delivery] = [:],
        finished: Set<String> = []
    ) {
        let member = Member(target: site, outage: id, start: start, state: state, since: since)
        self.init(id: id, [member], deliveries: deliveries, finished: finished)
        (self.noticed, machines) = (noticed, Machines(names: [], count: 0, isUnexplained: false, isHarmless: false))
    }

    /// The name of the site.
    package var site: String { members[0].target }

    /// Sets the current state of an incident at a site. If the incident continues after its end, ``noticed`` is set to `now`.
    mutating func update(
        _ current: SiteIncident,
        end: LedgerInstant?,
        ending: Outage.Ending? = nil,
        at now: LedgerInstant
    ) {
        let before = members[0]
        let isAgain = before.end != nil && end == nil
        if isAgain { noticed = now }
        members[0] = Member(
            target: before.target,
            outage: id,
            start: current.start,
            state: current.state,
            since: isAgain || before.state.attribution != current.state.attribution ? now : before.since,
            reason: nil,
            end: end.map { max($0, current.start) },
            ending: ending
        )
        machines = current.machines
    }
}

/// The current state of an incident at a site of a fleet. Times are on the clock of the hub.
package struct SiteIncident: Hashable, Sendable {
    package let id: String
    package let site: String
    package let start: LedgerInstant
    /// The end; nil if the incident is ongoing.
    package let end: LedgerInstant?
    package let state: TargetState
    package let machines: Incident.Machines

    package init(
        id: String,
        site: String,
        start: LedgerInstant,
        end: LedgerInstant?,
        state: TargetState,
        machines: Incident.Machines
    ) {
        (self.id, self.site, self.start, self.end) = (id, site, start, end)
        (self.state, self.machines) = (state, machines)
    }
}

extension Incident {
    /// The minimum delay for which a notification counts as late.
    static let promptness: Duration = .seconds(10)

    /// Returns the notification that a worker has to deliver now; nil if none is due.
    package func next(for worker: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard let part = part(of: notifier) else { return nil }
        if finished.contains(worker), !isOpenAgain(for: worker) { return nil }
        guard let delivery = deliveries[worker] else { return part.first(for: worker, of: notifier, at: now) }
        if let end = part.end {
            return part.notification(.ended, delivery.endings + 1, after: delivery, due: end, at: now)
        }
        if finished.contains(worker) || part.state.attribution != delivery.labels.attribution {
            let due = part.since + part.minimumDuration(of: notifier)
            guard due <= now else { return nil }
            return part.notification(.refined, delivery.refinements + 1, after: delivery, due: due, at: now)
        }
        let count = Int((now - part.start) / notifier.reminder)
        guard count > delivery.digests else { return nil }
        let due = part.start + notifier.reminder * count
        return part.notification(.digest, count, after: delivery, due: due, at: now)
    }

    /// Returns a repetition of the last notification; nil if the incident has ended or was not reported.
    package func repetition(for worker: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard !finished.contains(worker), let delivery = deliveries[worker], let part = part(of: notifier), !part.isOver
        else {
            return nil
        }
        return part.notification(.began, after: delivery, due: now, at: now)
    }

    /// Returns the time at which the next notification becomes due if nothing changes; nil if none does.
    package func nextDue(for worker: String, of notifier: NotifierSettings, after now: LedgerInstant) -> LedgerInstant?
    {
        if finished.contains(worker), !isOpenAgain(for: worker) { return nil }
        guard let part = part(of: notifier), !part.isOver else { return nil }
        guard let delivery = deliveries[worker] else {
            guard part.isWanted(by: notifier) else { return nil }
            let due = part.known + part.minimumDuration(of: notifier)
            return due > now ? due : nil
        }
        if finished.contains(worker) || part.state.attribution != delivery.labels.attribution {
            return part.since + part.minimumDuration(of: notifier)
        }
        return part.start + notifier.reminder * (Int((now - part.start) / notifier.reminder) + 1)
    }

    /// Returns a notification that tests a channel. Its incident has one target, `test`.
    static func test(at now: LedgerInstant) -> Notification {
        let (target, state) = ("test", TargetState(.unknown, .undecided))
        let id = Outage.id(of: target, from: now)
        let incident = Incident(Member(target: target, outage: id, start: now, state: state, since: now))
        return incident.notification(.test, due: now, at: now)
    }

    /// Returns a Boolean value that indicates whether a worker has nothing more to deliver.
    package func isDone(for worker: String, of notifier: NotifierSettings) -> Bool {
        guard !finished.contains(worker), let part = part(of: notifier) else { return true }
        guard let end = part.end else { return false }
        return deliveries[worker] == nil && !attempted.contains(worker)
            && (!part.isWanted(by: notifier) || end - part.known < part.minimumDuration(of: notifier))
    }

    /// Records that a worker has delivered a notification or has given up.
    mutating func didDeliver(_ notification: Notification, by worker: String) {
        let labels = notification.incident.state.labels
        var delivery = deliveries[worker] ?? Delivery(labels: labels)
        delivery.labels = labels
        switch notification.event {
        case .began, .test: break
        case .refined:
            delivery.refinements = notification.number
            finished.remove(worker)
        case .digest: delivery.digests = notification.number
        case .ended:
            delivery.endings = notification.number
            finished.insert(worker)
        }
        deliveries[worker] = delivery
    }

    /// Returns the first notification for a worker; nil if none is due. If the incident has ended before a delivery, it is `ended`.
    private func first(for worker: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        let minimumDuration = minimumDuration(of: notifier)
        let (due, isWanted) = (known + minimumDuration, isWanted(by: notifier))
        guard let end else { return isWanted && due <= now ? notification(.began, due: due, at: now) : nil }
        guard attempted.contains(worker) || isWanted && end - known >= minimumDuration else { return nil }
        return notification(.ended, due: due, at: now, isDelayed: true)
    }

    /// Returns a Boolean value that indicates whether a notifier reports incidents of this kind.
    private func isWanted(by notifier: NotifierSettings) -> Bool {
        notifier.only.contains(state.attribution) && !(machines?.isHarmless ?? false)
    }

    /// Returns a Boolean value that indicates whether the incident continues after a worker has delivered its end.
    ///
    /// This occurs only in a fleet, where machines may report late.
    private func isOpenAgain(for worker: String) -> Bool { machines != nil && !isOver && deliveries[worker] != nil }

    /// Returns the minimum duration of an incident that a notifier reports: the shortest setting of the members.
    private func minimumDuration(of notifier: NotifierSettings) -> Duration {
        members.map { notifier.settle[$0.target] ?? notifier.after }.min() ?? notifier.after
    }

    private func notification(
        _ event: Notification.Event,
        _ number: Int = 1,
        after delivery: Delivery? = nil,
        due: LedgerInstant,
        at now: LedgerInstant,
        isDelayed: Bool = false
    ) -> Notification {
        Notification(
            event: event,
            incident: self,
            number: number,
            due: due,
            previous: delivery?.labels,
            isDelayed: isDelayed || now - due > Self.promptness
        )
    }
}
