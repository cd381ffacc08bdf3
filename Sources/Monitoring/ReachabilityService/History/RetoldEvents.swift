import ReachabilityLedger

extension MonitoringService.Snapshot {
    /// What the books know of this run, as the events that would have told it: for a history that was lost. Those of a target come
    /// together, in their order.
    ///
    /// - Parameter planned: The work that is announced.
    func retold(_ planned: [PlannedMaintenance]) -> [[ServiceEvent]] {
        let work = planned.map { event(.maintenancePlanned($0), of: nil) }
        let notes = Dictionary(grouping: books.notes, by: \.outage)
        let actors = Dictionary(grouping: books.actors, by: \.outage)
        return [work]
            + books.targets.map { target in
                guard let account = books.accounts[target] else { return [] }
                let outages = account.outages + (account.ledger.outage.map { [$0] } ?? [])
                let more = outages.map(\.id).flatMap { id in
                    (notes[id] ?? []).map { ServiceEvent.Kind.noted($0) } + (actors[id] ?? []).map { .actorFound($0) }
                }
                return (account.retold + more).map { event($0, of: target) }
            }
    }

    private func event(_ kind: ServiceEvent.Kind, of target: String?) -> ServiceEvent {
        ServiceEvent(number: books.lastNumber, instant: now, target: target, kind: kind)
    }
}

extension ServiceBooks.Account {
    /// Its intervals with what explains them. Of what was before the first that is kept nothing is known any more.
    fileprivate var retold: [ServiceEvent.Kind] {
        let all = intervals + [ledger.current]
        var kinds: [ServiceEvent.Kind] = []
        if start < all[0].start {
            let state = TargetState(.unknown, .notObserved)
            kinds.append(.intervalClosed(LedgerInterval(state, from: start, to: all[0].start, reason: "notObserved")))
        }
        for interval in all {
            kinds.append(interval.end == nil ? .intervalOpened(interval) : .intervalClosed(interval))
            if let record = evidence[interval.start] { kinds.append(.explained(record)) }
        }
        return kinds
    }
}
