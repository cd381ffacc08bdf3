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
