package import ReachabilityLedger

/// The ledgers of all targets. A value that takes observations and returns the events that follow.
package struct Accounting: Sendable {
    package struct Account: Sendable {
        package fileprivate(set) var ledger: TargetLedger
        package let start: LedgerInstant
        /// The current or last interface of packets to the target; nil if there was none.
        fileprivate(set) var interface: String?
        /// Closed intervals since the service began, the oldest first; at most ``Accounting/intervalLimit``.
        package fileprivate(set) var intervals: [LedgerInterval] = []
        /// Outages that are over, the oldest first; at most ``Accounting/outageLimit``.
        package fileprivate(set) var outages: [Outage] = []
        /// The evidence of the intervals in memory, by their starts.
        package fileprivate(set) var evidence: [LedgerInstant: EvidenceRecord] = [:]
        /// The number of ended outages of this run, by kind.
        package fileprivate(set) var outageCounts: [OutageKind: UInt64] = [:]
        /// The time of all closed intervals of this run, in nanoseconds.
        fileprivate var totals: [LedgerAccount: Int64] = [:]

        fileprivate init(ledger: TargetLedger, start: LedgerInstant, interface: String?) {
            (self.ledger, self.start, self.interface) = (ledger, start, interface)
        }

        /// Removes the evidence of removed intervals.
        fileprivate mutating func forgetOldEvidence() {
            guard intervals.count == Accounting.kept, let first = intervals.first?.start else { return }
            evidence = evidence.filter { $0.key >= first }
        }

        /// Returns the exact time of an account in this run.
        package func total(_ account: LedgerAccount, at now: LedgerInstant) -> Duration {
            let current = ledger.current
            let open = current.state.account == account ? length(of: current, at: now) : .zero
            return .nanoseconds(totals[account, default: 0]) + open
        }

        /// Whether the target is in an outage of the last run that has not changed yet.
        var isResumed: Bool { ledger.current.start < start }

        /// Returns the part of an interval in this run. The first interval may have begun in an earlier one.
        fileprivate func length(of interval: LedgerInterval, at now: LedgerInstant) -> Duration {
            max(.zero, (interval.end ?? now) - max(interval.start, start))
        }
    }

    package struct OutageKind: Hashable, Sendable {
        package let attribution: Attribution
        package let cause: OutageCause?
    }

    /// The maximum number of intervals of a target in memory.
    package static let intervalLimit = 4096
    package static let outageLimit = 1024
    /// The number of intervals that are left after the oldest are removed.
    fileprivate static let kept = intervalLimit + 1 - intervalLimit / 4

    private(set) package var accounts: [String: Account] = [:]
    /// The targets with maintenance.
    private var maintained: Set<String> = []
    /// The notes of this run, the oldest first; at most ``Accounting/noteLimit``.
    private(set) var notes: [OutageNote] = []
    /// The actors of this run, the oldest first; at most ``Accounting/actorLimit``.
    private(set) var actors: [OutageActor] = []
    /// The number of the last event.
    private(set) package var lastNumber: UInt64 = 0

    package init() {}

    /// The names of the targets, sorted.
    package var targets: [String] { accounts.keys.sorted() }

    /// Returns the outages of one target or of all, including current ones, the latest first.
    package func outages(of target: String? = nil) -> [Outage] {
        let chosen = target.map { accounts[$0].map { [$0] } ?? [] } ?? Array(accounts.values)
        let all = chosen.flatMap { $0.outages + ($0.ledger.outage.map { [$0] } ?? []) }
        return all.sorted { ($1.start, $0.id) < ($0.start, $1.id) }
    }

    /// Returns the latest outages that a filter admits: at most `limit`, and others with the same start as the last.
    ///
    /// - Parameter start: The latest start.
    package func outages(
        _ filter: OutageFilter,
        upTo start: LedgerInstant,
        limit: Int,
        at now: LedgerInstant
    ) -> [Outage] {
        let chosen = filter.target.map { accounts[$0].map { [$0] } ?? [] } ?? Array(accounts.values)
        var latest: [Outage] = []
        for account in chosen {
            if let lasting = account.ledger.outage, lasting.start <= start, filter.admits(lasting, at: now) {
                latest.append(lasting)
            }
            // The outages of one target are in order, so only the latest of each can be among the latest of all.
            latest += account.outages.reversed().lazy.filter { $0.start <= start && filter.admits($0, at: now) }
                .prefix(limit)
        }
        latest.sort { $0.start > $1.start }
        guard latest.count > limit else { return latest }
        let last = latest[limit - 1].start
        return Array(latest.prefix { $0.start >= last })
    }

    /// Whether an outage is in memory.
    package func knowsOutage(of target: String, from start: LedgerInstant) -> Bool {
        guard let account = accounts[target] else { return false }
        if account.ledger.outage?.start == start { return true }
        return account.outages.reversed().first { $0.start <= start }?.start == start
    }

    /// Adds a target. Has no effect for a known one.
    ///
    /// - Parameters:
    ///   - interface: The interface of packets to the target; nil if there is none.
    ///   - outage: The outage that lasted when the last run was killed. It continues unless the target is up.
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
    package mutating func forget(_ target: String, now: LedgerInstant) -> [ServiceEvent] {
        guard var ledger = accounts[target]?.ledger else { return [] }
        let end = ledger.take(TargetState(.unknown, .notObserved), reason: "notObserved", at: now)
        let events = end.filter { if case .opened = $0 { false } else { true } }
        let told = keep(events, of: target, now: now)
        accounts[target] = nil
        return told
    }

    /// Takes an observation of a target.
    ///
    /// - Parameters:
    ///   - instant: The start of the observed state.
    ///   - uncertainty: The maximum time by which the state may have begun earlier.
    ///   - interface: The interface of packets to the target; nil if there is none, or if it has not changed.
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

    /// Takes the evidence of a target, unless the state has changed meanwhile or has evidence.
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
        // Evidence is often the same as before. It is stored once.
        let known = account.evidence.values.first { $0.steps == steps }?.steps
        let record = EvidenceRecord(interval: current.start, instant: now, steps: known ?? steps)
        accounts[target]?.evidence[current.start] = record
        return [note(.explained(record), of: target, now: now)]
    }

    /// Takes a loss of the carrier that had ended when the kernel reported it: an outage of unknown length.
    ///
    /// - Parameters:
    ///   - instant: When the carrier was back.
    ///   - uncertainty: The maximum time by which the carrier may have been lost earlier.
    package mutating func takeMissedLoss(
        of target: String,
        at instant: LedgerInstant,
        uncertainty: Duration,
        now: LedgerInstant
    ) -> [ServiceEvent] {
        // Intervals are identified by their starts.
        let start = instant - .nanoseconds(1)
        guard let before = accounts[target]?.ledger.current, before.state.account == .up, before.start < start else {
            return []
        }
        let observation = Observation(path: .notReachable(reason: "noCarrier"))
        let events = take(observation, of: target, at: start, uncertainty: uncertainty, now: now)
        let more = accounts[target]?.ledger.take(before.state, reason: before.reason, at: instant) ?? []
        return events + keep(more, of: target, now: now)
    }

    /// Takes a sleep of the machine, during which nothing was observed.
    package mutating func suspend(from start: LedgerInstant, to end: LedgerInstant) -> [ServiceEvent] {
        var events: [ServiceEvent] = [note(.resumed(end - start), of: nil, now: end)]
        for target in targets {
            guard let before = accounts[target]?.ledger.current else { continue }
            let observation = Observation(path: .suspended)
            events += take(observation, of: target, at: start, now: end)
            // The state before the sleep continues until another is known.
            if let more = accounts[target]?.ledger.take(before.state, reason: before.reason, at: end) {
                events += keep(more, of: target, now: end)
            }
        }
        return events
    }

    /// Sets the targets with maintenance since a moment.
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

    /// Returns the state and the reason of an observation.
    private func state(of target: String, _ observation: Observation) -> (TargetState, String?) {
        var state = Attributor.state(of: observation)
        state.isMaintenance = maintained.contains(target)
        return (state, Attributor.reason(of: observation))
    }

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
                accounts[target]?.forgetOldEvidence()
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
        return events.map { note(.init($0), of: target, now: now) }
    }

    /// Numbers an event.
    mutating func note(_ kind: ServiceEvent.Kind, of target: String?, now: LedgerInstant) -> ServiceEvent {
        lastNumber += 1
        let interface = target.flatMap { accounts[$0]?.interface }
        return ServiceEvent(number: lastNumber, instant: now, target: target, kind: kind, interface: interface)
    }
}

extension Array {
    /// Appends an element, and removes the first quarter if there are more than a limit.
    fileprivate mutating func append(_ element: Element, keeping limit: Int) {
        append(element)
        if count > limit { removeFirst(limit / 4) }
    }
}
