package import ReachabilityLedger

/// The outages of one root cause. They are notified together.
package struct Incident: Hashable, Sendable {
    /// An affected target.
    package struct Member: Hashable, Sendable {
        package let target: String
        /// The id of the outage. It changes if the service restarts while the outage lasts.
        package internal(set) var outage: String
        package let start: LedgerInstant
        /// The current state, or after the end the state that lasted longest.
        package internal(set) var state: TargetState
        /// The start of the current attribution.
        package internal(set) var since: LedgerInstant
        package internal(set) var reason: String?
        /// Nil while the outage lasts.
        package internal(set) var end: LedgerInstant?
        /// Nil while the outage lasts, and if the end was not observed.
        package internal(set) var ending: Outage.Ending?
    }

    /// The attribution and the cause. They are labels of alerts.
    package struct Labels: Hashable, Sendable {
        package let attribution: Attribution
        package let cause: OutageCause?

        package init(attribution: Attribution, cause: OutageCause?) {
            (self.attribution, self.cause) = (attribution, cause)
        }
    }

    /// The notifications that one recipient has received of an incident.
    package struct Delivery: Hashable, Sendable {
        /// The labels of the last notification.
        package var labels: Labels
        /// The number of notifications of another attribution.
        package var refinements = 0
        /// The number of days that the last digest reported.
        package var digests = 0
        /// The number of notifications of the end. An incident of a fleet can continue after its end.
        package var endings = 0

        package init(labels: Labels, refinements: Int = 0, digests: Int = 0, endings: Int = 0) {
            self.labels = labels
            // They may come from a damaged row.
            (self.refinements, self.digests, self.endings) = (
                min(refinements, .max / 2), digests, min(endings, .max / 2)
            )
        }
    }

    /// The affected machines of a fleet.
    package struct Machines: Hashable, Sendable {
        /// The first names in alphabetical order.
        package let names: [String]
        /// The number of all machines.
        package let count: Int
        /// Whether a machine is silent for an unknown reason.
        package let isUnexplained: Bool
        /// Whether no machine had a fault. The incident is then notified only if its beginning was.
        package let isHarmless: Bool

        package init(names: [String], count: Int, isUnexplained: Bool, isHarmless: Bool) {
            (self.names, self.count) = (names, count)
            (self.isUnexplained, self.isHarmless) = (isUnexplained, isHarmless)
        }
    }

    /// The id of the first outage.
    package let id: String
    /// At least one, in the order in which their outages began.
    package internal(set) var members: [Member]
    /// The notifications that were delivered, by the key of the worker.
    package internal(set) var deliveries: [String: Delivery] = [:]
    /// The workers that have begun a delivery. A recipient that may have received the beginning also receives the end.
    package internal(set) var attempted: Set<String> = []
    /// The workers that have delivered the end.
    package internal(set) var finished: Set<String> = []
    /// Nil for the targets of this machine.
    package internal(set) var machines: Machines?
    /// When a hub first or again learned of the incident; nil for its beginning.
    package internal(set) var noticed: LedgerInstant?

    init(_ member: Member) {
        (id, members) = (member.outage, [member])
    }

    /// An incident of the history.
    init(id: String, _ members: [Member], deliveries: [String: Delivery], finished: Set<String>) {
        (self.id, self.members, self.deliveries, self.finished) = (id, members, deliveries, finished)
    }

    package var start: LedgerInstant { members[0].start }

    /// The earliest moment at which the incident could be notified.
    var known: LedgerInstant { max(start, noticed ?? start) }

    package var isOver: Bool { members.allSatisfy { $0.end != nil } }

    /// The end of the last outage; nil while one lasts.
    package var end: LedgerInstant? { isOver ? members.compactMap(\.end).max() : nil }

    /// The ending of the last outage, or unknown if the end of any outage is.
    package var ending: Outage.Ending? {
        if members.contains(where: { $0.ending == .unknown }) { return .unknown }
        return isOver ? members.last { $0.end == end }?.ending : nil
    }

    /// The first member that is still affected, or else the first one. It represents the incident.
    private var leader: Member { members.first { $0.end == nil } ?? members[0] }

    package var state: TargetState { leader.state }

    package var reason: String? { leader.reason }

    /// The start of the current attribution.
    package var since: LedgerInstant { leader.since }

    /// The members that a notifier reports; nil if there are none.
    package func part(of notifier: NotifierSettings) -> Incident? {
        guard notifier.targets != nil else { return self }
        var part = self
        part.members = members.filter { notifier.wants($0.target) }
        return part.members.isEmpty ? nil : part
    }
}

/// A message about an incident for one recipient.
package struct Notification: Hashable, Sendable {
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case began
        /// The attribution has changed.
        case refined
        case ended
        /// The incident has lasted for another day.
        case digest
    }

    package let event: Event
    /// A copy with the targets of the notifier only.
    package let incident: Incident
    /// The number among the events of the same kind, from 1.
    package let number: Int
    /// The earliest moment at which it could be delivered.
    package let due: LedgerInstant
    /// The labels of the previous notification; nil if there was none.
    package let previous: Incident.Labels?
    /// Whether it is delivered late, because an earlier delivery failed.
    package var isDelayed = false

    /// An identifier that is the same for each attempt.
    package var id: String {
        switch event {
        case .began: "\(incident.id)-\(event.rawValue)"
        case .ended: "\(incident.id)-\(event.rawValue)" + (number > 1 ? "-\(number)" : "")
        case .refined, .digest: "\(incident.id)-\(event.rawValue)-\(number)"
        }
    }
}

extension TargetState {
    package var labels: Incident.Labels { .init(attribution: attribution, cause: cause) }
}

/// Incidents at the sites of a fleet. The site is the only member.
extension Incident {
    /// Creates an incident that has not ended.
    ///
    /// - Parameters:
    ///   - noticed: When the hub learned of it.
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

    package var site: String { members[0].target }

    /// Sets the current state. An incident that continues after its end is noticed again.
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

/// The current state of an incident at a site of a fleet. Times are of the hub's clock.
package struct SiteIncident: Hashable, Sendable {
    package let id: String
    package let site: String
    package let start: LedgerInstant
    /// Nil while the incident lasts.
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
    /// The interval of digests.
    static let digestPause: Duration = .seconds(86_400)
    /// The delay after which a notification counts as late.
    static let promptness: Duration = .seconds(10)

    /// Returns the notification that a worker has to deliver now.
    package func next(for worker: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard let part = part(of: notifier) else { return nil }
        if finished.contains(worker), !isOpenAgain(for: worker) { return nil }
        guard let delivery = deliveries[worker] else { return part.first(for: worker, of: notifier, at: now) }
        if let end = part.end {
            return part.notification(.ended, delivery.endings + 1, after: delivery, due: end, at: now)
        }
        if finished.contains(worker) || part.state.attribution != delivery.labels.attribution {
            let due = part.since + part.patience(of: notifier)
            guard due <= now else { return nil }
            return part.notification(.refined, delivery.refinements + 1, after: delivery, due: due, at: now)
        }
        let days = Int((now - part.start) / Self.digestPause)
        guard days > delivery.digests else { return nil }
        let due = part.start + Self.digestPause * days
        return part.notification(.digest, days, after: delivery, due: due, at: now)
    }

    /// Returns a repetition of the last notification while the incident lasts.
    package func standing(for worker: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard !finished.contains(worker), let delivery = deliveries[worker], let part = part(of: notifier), !part.isOver
        else {
            return nil
        }
        return part.notification(.began, after: delivery, due: now, at: now)
    }

    /// Returns when the next notification becomes due without an event.
    package func nextDue(for worker: String, of notifier: NotifierSettings, after now: LedgerInstant) -> LedgerInstant?
    {
        if finished.contains(worker), !isOpenAgain(for: worker) { return nil }
        guard let part = part(of: notifier), !part.isOver else { return nil }
        guard let delivery = deliveries[worker] else {
            guard part.isWanted(by: notifier) else { return nil }
            let due = part.known + part.patience(of: notifier)
            return due > now ? due : nil
        }
        if finished.contains(worker) || part.state.attribution != delivery.labels.attribution {
            return part.since + part.patience(of: notifier)
        }
        return part.start + Self.digestPause * (Int((now - part.start) / Self.digestPause) + 1)
    }

    /// Whether a worker has nothing more to deliver.
    package func isDone(for worker: String, of notifier: NotifierSettings) -> Bool {
        guard !finished.contains(worker), let part = part(of: notifier) else { return true }
        guard let end = part.end else { return false }
        return deliveries[worker] == nil && !attempted.contains(worker)
            && (!part.isWanted(by: notifier) || end - part.known < part.patience(of: notifier))
    }

    /// Records that a worker begins a delivery.
    package mutating func willDeliver(by worker: String) { attempted.insert(worker) }

    /// Records a delivery, or one that was given up.
    package mutating func didDeliver(_ notification: Notification, by worker: String) {
        let labels = notification.incident.state.labels
        var delivery = deliveries[worker] ?? Delivery(labels: labels)
        delivery.labels = labels
        switch notification.event {
        case .began: break
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

    /// Returns the first notification: of the end, if the incident ended before a delivery.
    private func first(for worker: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        let patience = patience(of: notifier)
        let (due, isWanted) = (known + patience, isWanted(by: notifier))
        guard let end else { return isWanted && due <= now ? notification(.began, due: due, at: now) : nil }
        guard attempted.contains(worker) || isWanted && end - known >= patience else { return nil }
        return notification(.ended, due: due, at: now, isDelayed: true)
    }

    /// Whether a notifier reports the incident.
    private func isWanted(by notifier: NotifierSettings) -> Bool {
        notifier.only.contains(state.attribution) && !(machines?.isHarmless ?? false)
    }

    /// Whether the incident continues after a worker has delivered its end. In a fleet it can, because machines may report late.
    private func isOpenAgain(for worker: String) -> Bool { machines != nil && !isOver && deliveries[worker] != nil }

    /// The minimum duration before a notification: the shortest of the members.
    private func patience(of notifier: NotifierSettings) -> Duration {
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
