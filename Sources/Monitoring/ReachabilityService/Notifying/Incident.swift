package import ReachabilityLedger

/// One root cause, and all that fell with it: what is told as one.
package struct Incident: Hashable, Sendable {
    /// A target that fell.
    package struct Member: Hashable, Sendable {
        package let target: String
        /// The id of its outage. After a restart of the service it goes on under another.
        package internal(set) var outage: String
        package let start: LedgerInstant
        /// How it is; how it was for longest when it is over.
        package internal(set) var state: TargetState
        /// Since when it is the same party's fault.
        package internal(set) var since: LedgerInstant
        package internal(set) var reason: String?
        /// Nil while it lasts.
        package internal(set) var end: LedgerInstant?
        /// What ended it; nil while it lasts, and where nobody had observed.
        package internal(set) var ending: Outage.Ending?
    }

    /// Whose fault it is, and why: what alerts are known by.
    package struct Labels: Hashable, Sendable {
        package let attribution: Attribution
        package let cause: OutageCause?

        package init(attribution: Attribution, cause: OutageCause?) {
            (self.attribution, self.cause) = (attribution, cause)
        }
    }

    /// What a notifier was told last.
    package struct Told: Hashable, Sendable {
        package var labels: Labels
        /// How often it was told that it is somebody else's fault.
        package var refinements = 0
        /// The days after which it was told that it lasts.
        package var digests = 0
        /// How often it was told that it is over: what befell a fleet may go on after all.
        package var endings = 0

        package init(labels: Labels, refinements: Int = 0, digests: Int = 0, endings: Int = 0) {
            self.labels = labels
            // They may come from a damaged row.
            (self.refinements, self.digests, self.endings) = (
                min(refinements, .max / 2), digests, min(endings, .max / 2)
            )
        }
    }

    /// The machines of a fleet that it befell.
    package struct Machines: Hashable, Sendable {
        /// The first of them, in order.
        package let names: [String]
        /// How many there are.
        package let count: Int
        /// Whether one of them is silent, and nobody knows why.
        package let isUnexplained: Bool
        /// Whether nothing was wrong after all: then it is not told, unless that it began was.
        package let isHarmless: Bool

        package init(names: [String], count: Int, isUnexplained: Bool, isHarmless: Bool) {
            (self.names, self.count) = (names, count)
            (self.isUnexplained, self.isHarmless) = (isUnexplained, isHarmless)
        }
    }

    /// The outage that was first, by its id.
    package let id: String
    /// In the order in which they fell; at least one.
    package internal(set) var members: [Member]
    /// What couriers were told, by their keys.
    package internal(set) var told: [String: Told] = [:]
    /// Couriers that have begun to tell of it: whoever may have heard of it hears of its end.
    package internal(set) var tried: Set<String> = []
    /// Couriers that need no more.
    package internal(set) var finished: Set<String> = []
    /// What it befell at a site of a fleet; nil for the targets of this machine.
    package internal(set) var machines: Machines?
    /// When it was known first, or again; nil where that is when it began.
    package internal(set) var noticed: LedgerInstant?

    init(_ member: Member) {
        (id, members) = (member.outage, [member])
    }

    /// One that was written down.
    init(id: String, _ members: [Member], told: [String: Told], finished: Set<String>) {
        (self.id, self.members, self.told, self.finished) = (id, members, told, finished)
    }

    package var start: LedgerInstant { members[0].start }

    /// When it could be told of first: who is silent for long may be noticed late.
    var known: LedgerInstant { max(start, noticed ?? start) }

    package var isOver: Bool { members.allSatisfy { $0.end != nil } }

    /// When the last of it ended; nil while it lasts.
    package var end: LedgerInstant? { isOver ? members.compactMap(\.end).max() : nil }

    /// That of the last to end; what nobody knows the end of counts more.
    package var ending: Outage.Ending? {
        if members.contains(where: { $0.ending == .unknown }) { return .unknown }
        return isOver ? members.last { $0.end == end }?.ending : nil
    }

    /// What it is told by: the first that lasts, the first of all when it is over.
    private var leader: Member { members.first { $0.end == nil } ?? members[0] }

    /// How it is.
    package var state: TargetState { leader.state }

    package var reason: String? { leader.reason }

    /// Since when it is the same party's fault.
    package var since: LedgerInstant { leader.since }

    /// What concerns a notifier; nil where nothing of it does.
    package func part(of notifier: NotifierSettings) -> Incident? {
        guard notifier.targets != nil else { return self }
        var part = self
        part.members = members.filter { notifier.wants($0.target) }
        return part.members.isEmpty ? nil : part
    }
}

/// Something that is to be told of an incident.
package struct Notification: Hashable, Sendable {
    package enum Event: String, Hashable, Sendable, CaseIterable {
        /// It began, and lasts.
        case began
        /// It is somebody else's fault than was told.
        case refined
        /// It is over.
        case ended
        /// It has lasted for one more day.
        case digest
    }

    package let event: Event
    /// As it was then; the targets of the notifier alone.
    package let incident: Incident
    /// Which of its kind it is, from 1.
    package let number: Int
    /// When it could have been told first.
    package let due: LedgerInstant
    /// What was told before; nil where nothing was.
    package let previous: Incident.Labels?
    /// Whether it is told late: what should have been told before could not be.
    package var isDelayed = false

    /// The same whenever and however often it is told.
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

/// What befell a site of a fleet is told as what befalls the targets of one machine: the site is its only member.
extension Incident {
    /// One that is not over.
    ///
    /// - Parameters:
    ///   - noticed: When it was known first, or again.
    ///   - since: Since when it is the same party's fault.
    ///   - told: What couriers were told, by their keys.
    ///   - finished: Couriers that need no more.
    package init(
        id: String,
        site: String,
        start: LedgerInstant,
        noticed: LedgerInstant,
        since: LedgerInstant,
        state: TargetState,
        told: [String: Told] = [:],
        finished: Set<String> = []
    ) {
        let member = Member(target: site, outage: id, start: start, state: state, since: since)
        self.init(id: id, [member], told: told, finished: finished)
        (self.noticed, machines) = (noticed, Machines(names: [], count: 0, isUnexplained: false, isHarmless: false))
    }

    /// Where it is.
    package var site: String { members[0].target }

    /// Takes what is known of it now. What was over and is not is noticed again.
    ///
    /// - Parameters:
    ///   - end: When it was over; nil while it lasts.
    ///   - ending: What ended it, where that is told.
    package mutating func become(
        _ state: TargetState,
        _ machines: Machines,
        from start: LedgerInstant,
        to end: LedgerInstant?,
        _ ending: Outage.Ending? = nil,
        at now: LedgerInstant
    ) {
        let before = members[0]
        let isAgain = before.end != nil && end == nil
        if isAgain { noticed = now }
        members[0] = Member(
            target: before.target,
            outage: id,
            start: start,
            state: state,
            since: isAgain || before.state.attribution != state.attribution ? now : before.since,
            reason: nil,
            end: end.map { max($0, start) },
            ending: ending
        )
        self.machines = machines
    }
}

extension Incident {
    /// How often an outage that lasts is told of again.
    static let digestPause: Duration = .seconds(86_400)
    /// What is told later than this is told late.
    static let promptness: Duration = .seconds(10)

    /// What a courier is to tell now.
    package func next(for courier: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard let part = part(of: notifier) else { return nil }
        if finished.contains(courier), !isOpenAgain(for: courier) { return nil }
        guard let told = told[courier] else { return part.first(for: courier, of: notifier, at: now) }
        if let end = part.end { return part.notification(.ended, told.endings + 1, after: told, due: end, at: now) }
        if finished.contains(courier) || part.state.attribution != told.labels.attribution {
            let due = part.since + part.patience(of: notifier)
            guard due <= now else { return nil }
            return part.notification(.refined, told.refinements + 1, after: told, due: due, at: now)
        }
        let days = Int((now - part.start) / Self.digestPause)
        guard days > told.digests else { return nil }
        let due = part.start + Self.digestPause * days
        return part.notification(.digest, days, after: told, due: due, at: now)
    }

    /// What lasts as a courier has told it: for those that are to be told again and again.
    package func standing(for courier: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        guard !finished.contains(courier), let told = told[courier], let part = part(of: notifier), !part.isOver else {
            return nil
        }
        return part.notification(.began, after: told, due: now, at: now)
    }

    /// When that changes by itself; nil where it does not.
    package func nextDue(for courier: String, of notifier: NotifierSettings, after now: LedgerInstant) -> LedgerInstant?
    {
        if finished.contains(courier), !isOpenAgain(for: courier) { return nil }
        guard let part = part(of: notifier), !part.isOver else { return nil }
        guard let told = told[courier] else {
            guard part.isWanted(by: notifier) else { return nil }
            let due = part.known + part.patience(of: notifier)
            return due > now ? due : nil
        }
        if finished.contains(courier) || part.state.attribution != told.labels.attribution {
            return part.since + part.patience(of: notifier)
        }
        return part.start + Self.digestPause * (Int((now - part.start) / Self.digestPause) + 1)
    }

    /// Whether a courier need not be told anything more of it.
    package func isDone(for courier: String, of notifier: NotifierSettings) -> Bool {
        guard !finished.contains(courier), let part = part(of: notifier) else { return true }
        guard let end = part.end else { return false }
        return told[courier] == nil && !tried.contains(courier)
            && (!part.isWanted(by: notifier) || end - part.known < part.patience(of: notifier))
    }

    /// A courier begins to tell something of it.
    package mutating func tries(by courier: String) { tried.insert(courier) }

    /// A courier has told something, or will never be able to.
    package mutating func told(_ notification: Notification, by courier: String) {
        let labels = notification.incident.state.labels
        var told = told[courier] ?? Told(labels: labels)
        told.labels = labels
        switch notification.event {
        case .began: break
        case .refined:
            told.refinements = notification.number
            finished.remove(courier)
        case .digest: told.digests = notification.number
        case .ended:
            told.endings = notification.number
            finished.insert(courier)
        }
        self.told[courier] = told
    }

    /// The first that a notifier hears of it: that it is over, where it was over before anybody could be told.
    private func first(for courier: String, of notifier: NotifierSettings, at now: LedgerInstant) -> Notification? {
        let patience = patience(of: notifier)
        let (due, isWanted) = (known + patience, isWanted(by: notifier))
        guard let end else { return isWanted && due <= now ? notification(.began, due: due, at: now) : nil }
        guard tried.contains(courier) || isWanted && end - known >= patience else { return nil }
        return notification(.ended, due: due, at: now, isDelayed: true)
    }

    /// Whether a notifier is to hear of it at all.
    private func isWanted(by notifier: NotifierSettings) -> Bool {
        notifier.only.contains(state.attribution) && !(machines?.isHarmless ?? false)
    }

    /// Whether it goes on, of which a courier has told that it is over: what befell a fleet may, for machines tell late.
    private func isOpenAgain(for courier: String) -> Bool { machines != nil && !isOver && told[courier] != nil }

    /// How long it lasts before it is told: what one of its targets has waited for is told with all that fell with it.
    private func patience(of notifier: NotifierSettings) -> Duration {
        members.map { notifier.settle[$0.target] ?? notifier.after }.min() ?? notifier.after
    }

    private func notification(
        _ event: Notification.Event,
        _ number: Int = 1,
        after told: Told? = nil,
        due: LedgerInstant,
        at now: LedgerInstant,
        isDelayed: Bool = false
    ) -> Notification {
        Notification(
            event: event,
            incident: self,
            number: number,
            due: due,
            previous: told?.labels,
            isDelayed: isDelayed || now - due > Self.promptness
        )
    }
}
