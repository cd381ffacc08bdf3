package import ReachabilityLedger

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
