package import LinuxSupport
package import ReachabilityLedger

/// A reader for outages: those of this run from memory, those of earlier runs from the history.
package struct OutageReader: Sendable {
    package let service: MonitoringService
    /// The history; nil if the service runs without one.
    package let history: HistoryWriter?

    package init(_ service: MonitoringService, _ history: HistoryWriter?) {
        (self.service, self.history) = (service, history)
    }

    /// Returns at most `limit` outages that match a filter, latest first.
    ///
    /// - Parameter after: The last outage of the previous page. Only outages that follow it in the order are returned.
    package func outages(
        _ filter: OutageFilter = OutageFilter(),
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [ExplainedOutage] {
        try explained(found(filter, after: after, limit: limit, snapshot), snapshot)
    }

    /// Returns what ``outages(_:after:limit:_:)`` returns, without intervals and evidence.
    package func summaries(
        _ filter: OutageFilter = OutageFilter(),
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [OutageSummary] {
        try found(filter, after: after, limit: limit, snapshot).map(\.summary)
    }

    private func found(
        _ filter: OutageFilter,
        after: OutageKey?,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> ArraySlice<Reference> {
        var found: [Reference] = []
        // Several reads may be needed, because an outage that is both in memory and in the history counts once.
        var next: LedgerInstant? = min(after?.start ?? .latest, snapshot.now)
        while let start = next, found.count < limit {
            let part = try references(filter, upTo: start, limit: limit, snapshot)
            found += part.references.filter { reference in after.map { reference.key > $0 } ?? true }
            next = part.next
        }
        return found.prefix(limit)
    }

    /// Returns the number and the total duration of outages by attribution and cause.
    ///
    /// If the history cannot be read, only outages of this run are counted.
    package func outageSums(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> [OutageSum] {
        if let sums = try? history?.store?.outageSums(filter, at: snapshot.now) { return sums }
        var sums: [TargetState: OutageSum] = [:]
        for outage in snapshot.accounting.outages(filter, upTo: snapshot.now, limit: .max, at: snapshot.now) {
            let state = outage.deciding(at: snapshot.now).state
            let key = TargetState(state.attribution, state.cause)
            var sum = sums[key] ?? OutageSum(attribution: state.attribution, cause: state.cause)
            sum.count += 1
            sum.open += outage.end == nil ? 1 : 0
            sum.time += outage.duration(at: snapshot.now)
            sums[key] = sum
        }
        return Array(sums.values)
    }

    /// Returns the outage with an id; nil for an unknown id.
    package func outage(with key: OutageKey, _ snapshot: MonitoringService.Snapshot) throws -> ExplainedOutage? {
        let found = try references(OutageFilter(), upTo: key.start, limit: 1, snapshot).references
        return try explained(found.filter { $0.key == key }[...], snapshot).first
    }

    /// A reference to an outage: the outage in memory, or nil if it has to be read from the history.
    private typealias Reference = (key: OutageKey, summary: OutageSummary, outage: Outage?)

    /// Returns references to at least `limit` outages that start at or before an instant, or to all of them, latest first.
    ///
    /// The result is contiguous: no matching outage between its first and last element is missing. An outage that is in memory is not read
    /// from the history, because memory is newer.
    ///
    /// - Returns: The references, and the latest possible start of further outages; nil if there are no more.
    private func references(
        _ filter: OutageFilter,
        upTo start: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> (references: [Reference], next: LedgerInstant?) {
        let memory = snapshot.accounting.outages(filter, upTo: start, limit: limit, at: snapshot.now)
        var written: [OutageSummary] = []
        // An ongoing outage is always in memory.
        if !filter.isOpen {
            written = try history?.store?.outageStarts(filter, upTo: start, limit: limit) ?? []
        }
        // A list that reached its limit is not complete before its last outage.
        let ends = [memory.map(\.start), written.map(\.start)].filter { $0.count >= limit }.compactMap(\.last)
        let last = ends.max()
        let older = written.filter { !snapshot.accounting.hasOutage(of: $0.target, from: $0.start) }
        let references: [Reference] =
            memory.map { (OutageKey(of: $0.target, from: $0.start), OutageSummary($0, at: snapshot.now), $0) }
            + older.map { (OutageKey(of: $0.target, from: $0.start), $0, nil) }
        return (
            references.filter { reference in last.map { reference.key.start >= $0 } ?? true }
                .sorted { $0.key < $1.key },
            last.flatMap { $0 > .earliest ? LedgerInstant(nanoseconds: $0.nanoseconds - 1) : nil }
        )
    }

    private func explained(
        _ references: ArraySlice<Reference>,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [ExplainedOutage] {
        var found: [ExplainedOutage] = []
        for reference in references {
            if let outage = reference.outage {
                found.append(ExplainedOutage(outage, snapshot.accounting.accounts[outage.target]))
                continue
            }
            let (target, start) = (reference.summary.target, reference.key.start)
            let entries = try history?.store?.outage(of: target, from: start) ?? []
            if let outage = ExplainedOutage(of: target, from: start, entries) {
                found.append(outage)
            }
        }
        let notes = try notes(on: found.map(\.outage.id), snapshot)
        let actors = try actors(of: found.flatMap(\.outage.actorKeys).map(\.key), snapshot)
        for index in found.indices {
            found[index].notes = notes[found[index].outage.id] ?? []
            for (interval, key) in found[index].outage.actorKeys { found[index].actors[interval] = actors[key] }
        }
        return found
    }

    /// Returns the intervals of a target that overlap a window, latest first.
    ///
    /// - Parameter limit: The maximum number of intervals that are read from the history. Those in memory are always returned.
    package func intervals(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [LedgerInterval] {
        let account = snapshot.accounting.accounts[target]
        let memory = (account.map { $0.intervals + [$0.ledger.current] } ?? []).reversed()
            .filter { ($0.end ?? snapshot.now) > from && $0.start < to }
        guard let store = history?.store else { return memory }
        // The history provides the intervals before the first one in memory.
        let begin = min(to, memory.last?.start ?? to)
        var written = try store.intervals(of: target, from: from, to: begin, limit: limit)
        guard let last = written.first else { return memory }
        // An interval that an earlier run left open ended with that run. Its end may not be stored yet.
        let end = try last.end ?? max(last.start, min(begin, store.lastMark() ?? begin))
        written[0].end = end
        guard let first = memory.last, end < first.start else { return memory + written }
        let state = TargetState(.unknown, .notObserved)
        return memory + [LedgerInterval(state, from: end, to: first.start, reason: "notObserved")] + written
    }

    /// Returns the JSON objects of outages. Outages that cannot be read are omitted.
    package func objects(_ ids: [String], _ snapshot: MonitoringService.Snapshot) -> [JSONObject] {
        ids.compactMap { OutageKey($0) }.compactMap { try? outage(with: $0, snapshot) }.map { snapshot.object(of: $0) }
    }

    /// Returns the processes that caused outages, keyed by ``OutageActor/key``.
    package func actors(
        of keys: [String],
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [String: ActingProcess] {
        var found = try history?.store?.actors(of: keys) ?? [:]
        let memory = snapshot.accounting.actorsByKey
        for key in keys { found[key] = memory[key] ?? found[key] }
        return found
    }

    /// Returns the notes on outages, oldest first, keyed by the id of the outage.
    package func notes(
        on outages: [String],
        _ snapshot: MonitoringService.Snapshot
    ) throws -> [String: [OutageNote]] {
        var found = try history?.store?.notes(on: outages) ?? [:]
        for id in outages {
            // Notes of this run can be both in memory and in the history.
            let written = Set(found[id] ?? [])
            found[id, default: []] += snapshot.accounting.notes(on: id).filter { !written.contains($0) }
        }
        return found
    }
}

/// An outage with its evidence, notes and actors.
package struct ExplainedOutage {
    package let outage: Outage
    /// The evidence of its intervals, and of the intervals before and after it.
    package let evidence: [EvidenceRecord]
    /// The notes, oldest first.
    package var notes: [OutageNote] = []
    /// The processes that caused the intervals, keyed by the start of the interval.
    package var actors: [LedgerInstant: ActingProcess] = [:]
    /// The process that caused the outage; nil if it is not known.
    package var actor: ActingProcess? { actors[outage.start] }
    /// The reason why no evidence was gathered during the outage. Nil if there is such evidence, or if it may still be gathered.
    package var missing: String? {
        guard outage.end != nil, !evidence.isEmpty, !evidence.contains(where: { $0.phase(of: outage) == "during" })
        else { return nil }
        return "the outage ended before its cause could be queried"
    }

    /// Creates an outage of this run.
    package init(_ outage: Outage, _ account: Accounting.Account?) {
        self.outage = outage
        let intervals = account?.intervals ?? []
        let before = intervals.last { $0.start < outage.start }?.start
        let after = outage.end.flatMap { end in
            // The search starts at the end, because most requests are for recent outages.
            (intervals.reversed().prefix { $0.start >= end }.last?.start)
                ?? account.map(\.ledger.current.start).flatMap { $0 >= end ? $0 : nil }
        }
        let all = [before] + outage.intervals.map(\.start) + [after]
        evidence = all.compactMap { $0 }.compactMap { account?.evidence[$0] }
    }

    /// Creates an outage from entries of the history. The result is nil if they contain no outage that starts at `start`.
    ///
    /// - Parameter entries: The intervals of the outage, and those before and after it.
    init?(of target: String, from start: LedgerInstant, _ entries: [HistoryStore.Entry]) {
        var own: [LedgerInterval] = []
        var next: LedgerInterval?
        for entry in entries where entry.interval.start >= start {
            let isNext = own.last.map { $0.end != entry.interval.start } ?? false
            if isNext || !entry.interval.state.isOutage {
                next = entry.interval
                break
            }
            own.append(entry.interval)
        }
        guard !own.isEmpty else { return nil }
        outage = Outage(of: target, own, before: next)
        evidence = entries.compactMap(\.evidence)
    }
}

/// The id of an outage. Keys are ordered by start, latest first, and then by id.
package struct OutageKey: Comparable {
    let start: LedgerInstant
    private let id: String

    init(of target: String, from start: LedgerInstant) {
        (self.start, id) = (start, Outage.id(of: target, from: start))
    }

    /// Parses an id of the form `START-HASH`, with the start in base 36. The result is nil for any other text.
    package init?(_ id: String) {
        let parts = id.split(at: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0], radix: 36) else { return nil }
        (self.start, self.id) = (LedgerInstant(nanoseconds: start), id)
    }

    package static func < (left: Self, right: Self) -> Bool { (right.start, left.id) < (left.start, right.id) }
}

extension LedgerInstant {
    package static let earliest = LedgerInstant(nanoseconds: .min)
    package static let latest = LedgerInstant(nanoseconds: .max)
}
