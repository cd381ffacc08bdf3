package import ReachabilityLedger

/// The ledgers of all targets. A value type that receives observations and returns the resulting events.
package struct Accounting: Sendable {
    /// The ledger of one target, with the intervals, outages and evidence of this run.
    package struct Account: Sendable {
        package fileprivate(set) var ledger: TargetLedger
        /// The time at which the target was added in this run.
        package let start: LedgerInstant
        /// The current or last output interface of packets to the target; nil if no path was seen.
        fileprivate(set) var interface: String?
        /// The closed intervals of this run, oldest first. At most ``Accounting/intervalLimit``.
        package fileprivate(set) var intervals: [LedgerInterval] = []
        /// The ended outages of this run, oldest first. At most ``Accounting/outageLimit``.
        package fileprivate(set) var outages: [Outage] = []
        /// The evidence of the intervals in memory, keyed by the start of the interval.
        package fileprivate(set) var evidence: [LedgerInstant: EvidenceRecord] = [:]
        /// The number of ended outages of this run, by kind.
        package fileprivate(set) var outageCounts: [OutageKind: UInt64] = [:]
        /// The total time of the closed intervals of this run by account, in nanoseconds.
        fileprivate var totals: [LedgerAccount: Int64] = [:]

        fileprivate init(ledger: TargetLedger, start: LedgerInstant, interface: String?) {
            (self.ledger, self.start, self.interface) = (ledger, start, interface)
        }

        /// Removes the evidence of removed intervals.
        fileprivate mutating func removeOldEvidence() {
            guard intervals.count == Accounting.kept, let first = intervals.first?.start else { return }
            evidence = evidence.filter { $0.key >= first }
        }

        /// Returns the exact time that the target has spent in an account during this run, including the open interval.
        package func total(_ account: LedgerAccount, at now: LedgerInstant) -> Duration {
            let current = ledger.current
            let open = current.state.account == account ? length(of: current, at: now) : .zero
            return .nanoseconds(totals[account, default: 0]) + open
        }

        /// A Boolean value that indicates whether the current interval is an outage that began in the previous run and has not changed.
        var isResumed: Bool { ledger.current.start < start }

        /// Returns the part of an interval that lies in this run. The first interval may have begun in an earlier run.
        fileprivate func length(of interval: LedgerInterval, at now: LedgerInstant) -> Duration {
            max(.zero, (interval.end ?? now) - max(interval.start, start))
        }
    }

    /// The attribution and cause by which outages are counted.
    package struct OutageKind: Hashable, Sendable {
        package let attribution: Attribution
        package let cause: OutageCause?
    }

    /// The maximum number of closed intervals of a target in memory.
    package static let intervalLimit = 4096
    /// The maximum number of ended outages of a target in memory.
    package static let outageLimit = 1024
    /// The number of intervals that remain when the oldest quarter is removed.
    fileprivate static let kept = intervalLimit + 1 - intervalLimit / 4

    private(set) package var accounts: [String: Account] = [:]
    /// The names of the targets that are in maintenance.
    private var maintained: Set<String> = []
    /// The notes of this run, oldest first. At most ``Accounting/noteLimit``.
    private(set) var notes: [OutageNote] = []
    /// The actors of this run, oldest first. At most ``Accounting/actorLimit``.
    private(set) var actors: [OutageActor] = []
    /// The number of the last event.
    private(set) package var lastNumber: UInt64 = 0

    /// The names of the targets, sorted.
    package var targets: [String] { accounts.keys.sorted() }

    /// Returns the latest outages that match a filter, latest first.
    ///
    /// The result has at most `limit` outages, plus those that start at the same instant as the last one.
    ///
    /// - Parameter start: The latest allowed start of an outage.
    package func outages(
        _ filter: OutageFilter,
        upTo start: LedgerInstant,
        limit: Int,
        at now: LedgerInstant
    ) -> [Outage] {
        let chosen = filter.targets.map { $0.compactMap { accounts[$0] } } ?? Array(accounts.values)
        var latest: [Outage] = []
        for account in chosen {
            if let lasting = account.ledger.outage, lasting.start <= start, filter.admits(lasting, at: now) {
                latest.append(lasting)
            }
            // The outages of a target are sorted by start, so only the last `limit` of each can be in the result.
            latest += account.outages.reversed().lazy.filter { $0.start <= start && filter.admits($0, at: now) }
                .prefix(limit)
        }
        latest.sort { $0.start > $1.start }
        guard latest.count > limit else { return latest }
        let last = latest[limit - 1].start
        return Array(latest.prefix { $0.start >= last })
    }

    /// Returns a Boolean value that indicates whether an outage is in memory.
    package func hasOutage(of target: String, from start: LedgerInstant) -> Bool {
        guard let account = accounts[target] else { return false }
        if account.ledger.outage?.start == start { return true }
        return account.outages.reversed().first { $0.start <= start }?.start == start
    }

    /// Adds a target. Does nothing if the target exists.
    ///
    /// - Parameters:
    ///   - interface: The output interface of packets to the target; nil without a path.
    ///   - outage: The outage that was open when the previous run was killed. It continues unless the target is up.
    package mutating func open(
        _ target: String,
        _ observation: Observation,
        interface: String? = nil,
        resuming outage: Outage? = nil,
        at now: LedgerInstant
    ) -> [ServiceEvent] {
        guard accounts[target] == nil else { return [] }
        let (state, reason) = state(of: target, observation)
        let resumed =
            state.attribution == .up || state.isMaintenance ? nil : outage.flatMap(TargetLedger.init(resuming:))
        let ledger = resumed ?? TargetLedger(of: target, from: now, state, reason: reason)
        accounts[target] = Account(ledger: ledger, start: now, interface: interface)
        let began: [TargetLedger.Event] = ledger.outage.map { [.outageBegan($0)] } ?? []
        let events = keep([.opened(ledger.current)] + began, of: target, now: now)
        return events + (resumed != nil && state.isOutage ? take(observation, of: target, at: now, now: now) : [])
    }

    /// Removes a target. Its current interval ends.
    package mutating func removeTarget(_ target: String, now: LedgerInstant) -> [ServiceEvent] {
        guard var ledger = accounts[target]?.ledger else { return [] }
        let end = ledger.take(TargetState(.unknown, .notObserved), reason: "notObserved", at: now)
        let events = end.filter { if case .opened = $0 { false } else { true } }
        let ended = keep(events, of: target, now: now)
        accounts[target] = nil
        return ended
    }

    /// Applies an observation of a target.
    ///
    /// - Parameters:
    ///   - instant: The start of the observed state.
    ///   - uncertainty: The maximum time by which the state may have begun earlier.
    ///   - interface: The output interface of packets to the target. If nil, the last known interface is kept.
    ///   - now: When the observation was made.
    package mutating func take(
        _ observation: Observation,
        of target: String,
        at instant: LedgerInstant,
        uncertainty: Duration = .zero,
        interface: String? = nil,
        now: LedgerInstant
    ) -> [ServiceEvent] {
        if let interface { accounts[target]?.interface = interface }
        let (state, reason) = state(of: target, observation)
        guard let events = accounts[target]?.ledger.take(state, reason: reason, at: instant, uncertainty: uncertainty)
        else { return [] }
        return keep(events, of: target, now: now)
    }

    /// Stores the evidence for the current state of a target.
    ///
    /// The evidence is dropped if the state has changed since the query, or if the state already has evidence.
    package mutating func explain(
        _ target: String,
        _ observation: Observation,
        _ steps: [EvidenceRecord.Step],
        now: LedgerInstant
    ) -> [ServiceEvent] {
        guard let account = accounts[target] else { return [] }
        let current = account.ledger.current
        guard account.evidence[current.start] == nil,
            state(of: target, observation) == (current.state, current.reason)
        else { return [] }
        // Evidence often equals that of an earlier interval. Sharing the array saves memory.
        let known = account.evidence.values.first { $0.steps == steps }?.steps
        let record = EvidenceRecord(interval: current.start, instant: now, steps: known ?? steps)
        accounts[target]?.evidence[current.start] = record
        return [note(.explained(record), of: target, now: now)]
    }

    /// Records a carrier loss that had already ended when the kernel reported it. The length of the outage is unknown.
    ///
    /// - Parameters:
    ///   - instant: The time at which the carrier returned.
    ///   - uncertainty: The maximum time by which the carrier may have been lost earlier.
    package mutating func takeMissedLoss(
        of target: String,
        at instant: LedgerInstant,
        uncertainty: Duration,
        now: LedgerInstant
    ) -> [ServiceEvent] {
        // Intervals are identified by their start, so the outage needs a start of its own.
        let start = instant - .nanoseconds(1)
        guard let before = accounts[target]?.ledger.current, before.state.account == .up, before.start < start else {
            return []
        }
        let observation = Observation(path: .notReachable(reason: "noCarrier"))
        let events = take(observation, of: target, at: start, uncertainty: uncertainty, now: now)
        let more = accounts[target]?.ledger.take(before.state, reason: before.reason, at: instant) ?? []
        return events + keep(more, of: target, now: now)
    }

    /// Records that the machine was suspended. During this time nothing was observed.
    package mutating func suspend(from start: LedgerInstant, to end: LedgerInstant) -> [ServiceEvent] {
        var events: [ServiceEvent] = [note(.resumed(end - start), of: nil, now: end)]
        for target in targets {
            guard let before = accounts[target]?.ledger.current else { continue }
            let observation = Observation(path: .suspended)
            events += take(observation, of: target, at: start, now: end)
            // The state before the sleep is assumed until a new one is observed.
            if let more = accounts[target]?.ledger.take(before.state, reason: before.reason, at: end) {
                events += keep(more, of: target, now: end)
            }
        }
        return events
    }

    /// Sets the targets that are in maintenance from an instant on.
    package mutating func setMaintenance(
        of targets: Set<String>,
        at instant: LedgerInstant,
        now: LedgerInstant
    ) -> [ServiceEvent] {
        let changed = maintained.symmetricDifference(targets)
        maintained = targets
        return changed.sorted().flatMap { target -> [ServiceEvent] in
            guard let current = accounts[target]?.ledger.current else { return [] }
            var state = current.state
            state.isMaintenance = targets.contains(target)
            let events = accounts[target]?.ledger.take(state, reason: current.reason, at: instant) ?? []
            return keep(events, of: target, now: now)
        }
    }

    /// Returns the state and the reason that follow from an observation.
    private func state(of target: String, _ observation: Observation) -> (TargetState, String?) {
        var state = Attributor.state(of: observation)
        state.isMaintenance = maintained.contains(target)
        return (state, Attributor.reason(of: observation))
    }

    /// Records a step of the wall clock.
    package mutating func step(by step: Duration, now: LedgerInstant) -> ServiceEvent {
        note(.clockStepped(step), of: nil, now: now)
    }

    mutating func add(_ note: OutageNote, on target: String) -> ServiceEvent {
        notes.append(note, keeping: Self.noteLimit)
        return self.note(.noted(note), of: target, now: note.instant)
    }

    mutating func add(_ actor: OutageActor, on target: String, now: LedgerInstant) -> ServiceEvent {
        actors.append(actor, keeping: Self.actorLimit)
        return note(.actorFound(actor), of: target, now: now)
    }

    private mutating func keep(_ events: [TargetLedger.Event], of target: String, now: LedgerInstant) -> [ServiceEvent]
    {
        for event in events {
            switch event {
            case .closed(let interval):
                accounts[target]?.intervals.append(interval, keeping: Self.intervalLimit)
                accounts[target]?.removeOldEvidence()
                let length = accounts[target]?.length(of: interval, at: now) ?? .zero
                accounts[target]?.totals[interval.state.account, default: 0] += length.ledgerNanoseconds
            case .outageEnded(let outage):
                accounts[target]?.outages.append(outage, keeping: Self.outageLimit)
                let state = outage.deciding(at: now).state
                let kind = OutageKind(attribution: state.attribution, cause: state.cause)
                accounts[target]?.outageCounts[kind, default: 0] += 1
            case .opened, .refined, .outageBegan, .outageRefined: break
            }
        }
        return events.map { note(.ledger($0), of: target, now: now) }
    }

    /// Creates an event with the next number.
    mutating func note(_ kind: ServiceEvent.Kind, of target: String?, now: LedgerInstant) -> ServiceEvent {
        lastNumber += 1
        let interface = target.flatMap { accounts[$0]?.interface }
        return ServiceEvent(number: lastNumber, instant: now, target: target, kind: kind, interface: interface)
    }
}

extension Array {
    /// Appends an element. If the array then exceeds the limit, removes the oldest quarter.
    fileprivate mutating func append(_ element: Element, keeping limit: Int) {
        append(element)
        if count > limit { removeFirst(limit / 4) }
    }
}
