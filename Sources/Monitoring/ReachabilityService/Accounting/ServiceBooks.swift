package import ReachabilityLedger

/// The ledgers of all targets, and what is kept of them in memory. A value: it takes what was observed and returns what that changes.
package struct ServiceBooks: Sendable {
    /// The account of one target.
    package struct Account: Sendable {
        package fileprivate(set) var ledger: TargetLedger
        /// When it was begun.
        package let start: LedgerInstant
        /// The interface by which packets to the target leave, or left last; nil if there was none.
        fileprivate(set) var interface: String?
        /// Closed intervals since the service began, the oldest first; at most ``ServiceBooks/intervalLimit``.
        package fileprivate(set) var intervals: [LedgerInterval] = []
        /// Outages that are over, the oldest first; at most ``ServiceBooks/outageLimit``.
        package fileprivate(set) var outages: [Outage] = []
        /// Why intervals were as they were, by their beginnings, those of ``intervals`` and the one that lasts.
        package fileprivate(set) var evidence: [LedgerInstant: EvidenceRecord] = [:]
        /// How many outages of this run are over, by what they came to.
        package fileprivate(set) var outageCounts: [OutageKind: UInt64] = [:]
        /// The time of all closed intervals of this run, in nanoseconds.
        fileprivate var totals: [LedgerAccount: Int64] = [:]

        fileprivate init(ledger: TargetLedger, start: LedgerInstant, interface: String?) {
            (self.ledger, self.start, self.interface) = (ledger, start, interface)
        }

        /// Lets go of the evidence of intervals that were let go of.
        fileprivate mutating func forgetOldEvidence() {
            guard intervals.count == ServiceBooks.kept, let first = intervals.first?.start else { return }
            evidence = evidence.filter { $0.key >= first }
        }

        /// So much time has gone to an account in this run, exactly.
        package func total(_ account: LedgerAccount, at now: LedgerInstant) -> Duration {
            let current = ledger.current
            let open = current.state.account == account ? length(of: current, at: now) : .zero
            return .nanoseconds(totals[account, default: 0]) + open
        }

        /// Whether the target is in an outage of the last run, and nothing else is known yet.
        var isResumed: Bool { ledger.current.start < start }

        /// How much of an interval is of this run: the first may have begun in the one before.
        fileprivate func length(of interval: LedgerInterval, at now: LedgerInstant) -> Duration {
            max(.zero, (interval.end ?? now) - max(interval.start, start))
        }
    }

    /// What an outage came to.
    package struct OutageKind: Hashable, Sendable {
        package let attribution: Attribution
        package let cause: OutageCause?
    }

    /// More of a target are on the disk alone.
    package static let intervalLimit = 4096
    package static let outageLimit = 1024
    /// How many intervals are left when the oldest were let go of.
    fileprivate static let kept = intervalLimit + 1 - intervalLimit / 4

    private(set) package var accounts: [String: Account] = [:]
    /// Targets at which work is planned now.
    private var maintained: Set<String> = []
    /// What was written about outages in this run, the oldest first; at most ``ServiceBooks/noteLimit``.
    private(set) var notes: [OutageNote] = []
    /// Who began outages of this run, the oldest first; at most ``ServiceBooks/actorLimit``.
    private(set) var actors: [OutageActor] = []
    /// The number of the latest event that is in them.
    private(set) package var lastNumber: UInt64 = 0

    package init() {}

    /// The targets, in the order of their names.
    package var targets: [String] { accounts.keys.sorted() }

    /// The outages of one target, or of all, those that last included: the latest first.
    package func outages(of target: String? = nil) -> [Outage] {
        let chosen = target.map { accounts[$0].map { [$0] } ?? [] } ?? Array(accounts.values)
        let all = chosen.flatMap { $0.outages + ($0.ledger.outage.map { [$0] } ?? []) }
        return all.sorted { ($1.start, $0.id) < ($0.start, $1.id) }
    }

    /// The latest outages that a filter admits, the latest first: at most `limit` of them, and those that began with the last.
    ///
    /// - Parameter start: The latest beginning.
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
            // Outages of one target begin one after the other, so no more than these of each are among the latest of all.
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

    /// Begins to account for a target of which this is known; nothing where it is accounted for already.
    ///
    /// - Parameters:
    ///   - interface: The interface by which packets to the target leave; nil if there is none.
    ///   - outage: The outage that lasted when the last run was killed a moment ago. It continues unless the target is up; while nothing is
    ///     decided, the target is as it was.
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

    /// A target is watched no more: what lasts ends, and nobody observes what comes after.
    package mutating func forget(_ target: String, now: LedgerInstant) -> [ServiceEvent] {
        guard var ledger = accounts[target]?.ledger else { return [] }
        let end = ledger.take(TargetState(.unknown, .notObserved), reason: "notObserved", at: now)
        let events = end.filter { if case .opened = $0 { false } else { true } }
        let told = keep(events, of: target, now: now)
        accounts[target] = nil
        return told
    }

    /// Takes what was observed of a target.
    ///
    /// - Parameters:
    ///   - instant: Since when it is so.
    ///   - uncertainty: How much earlier it may have become so.
    ///   - interface: The interface by which packets to the target leave; nil if there is none now, or if it is as before.
    ///   - now: When this became known.
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

    /// Takes why a target is as it is, unless that has changed meanwhile, or is known.
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
        // Mostly it is as it was before, and need not be kept twice.
        let known = account.evidence.values.first { $0.steps == steps }?.steps
        let record = EvidenceRecord(interval: current.start, instant: now, steps: known ?? steps)
        accounts[target]?.evidence[current.start] = record
        return [note(.explained(record), of: target, now: now)]
    }

    /// Takes a loss of the carrier that the kernel reported when the carrier was back: an outage whose length is not known.
    ///
    /// - Parameters:
    ///   - instant: When the carrier was back.
    ///   - uncertainty: How much earlier it may have been lost.
    package mutating func takeMissedLoss(
        of target: String,
        at instant: LedgerInstant,
        uncertainty: Duration,
        now: LedgerInstant
    ) -> [ServiceEvent] {
        // Intervals are known by their beginnings.
        let start = instant - .nanoseconds(1)
        guard let before = accounts[target]?.ledger.current, before.state.account == .up, before.start < start else {
            return []
        }
        let observation = Observation(path: .notReachable(reason: "noCarrier"))
        let events = take(observation, of: target, at: start, uncertainty: uncertainty, now: now)
        let more = accounts[target]?.ledger.take(before.state, reason: before.reason, at: instant) ?? []
        return events + keep(more, of: target, now: now)
    }

    /// The machine slept, and nobody observed anything meanwhile.
    package mutating func suspend(from start: LedgerInstant, to end: LedgerInstant) -> [ServiceEvent] {
        var events: [ServiceEvent] = [note(.resumed(end - start), of: nil, now: end)]
        for target in targets {
            guard let before = accounts[target]?.ledger.current else { continue }
            let observation = Observation(path: .suspended)
            events += take(observation, of: target, at: start, now: end)
            // What was so before goes on to be so until something else is known.
            if let more = accounts[target]?.ledger.take(before.state, reason: before.reason, at: end) {
                events += keep(more, of: target, now: end)
            }
        }
        return events
    }

    /// Work is planned at these targets, and at no others.
    ///
    /// - Parameter instant: Since when.
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

    /// What an observation of a target means, and in which words.
    private func state(of target: String, _ observation: Observation) -> (TargetState, String?) {
        var state = Attributor.state(of: observation)
        state.isMaintenance = maintained.contains(target)
        return (state, Attributor.reason(of: observation))
    }

    /// The wall clock was set.
    package mutating func step(by step: Duration, now: LedgerInstant) -> ServiceEvent {
        note(.clockStepped(step), of: nil, now: now)
    }

    /// Somebody wrote about an outage of a target.
    mutating func add(_ note: OutageNote, on target: String) -> ServiceEvent {
        notes.append(note, keeping: Self.noteLimit)
        return self.note(.noted(note), of: target, now: note.instant)
    }

    /// It was found out who began an outage of a target.
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
    /// Appends, and lets go of the first quarter when there are more than so many.
    fileprivate mutating func append(_ element: Element, keeping limit: Int) {
        append(element)
        if count > limit { removeFirst(limit / 4) }
    }
}
