import LinuxSupport
import NIOHTTP1
import ReachabilityLedger
import ReachabilityService

/// An outage, and why it was so: with evidence of its intervals, and of those before and after it.
struct ExplainedOutage {
    let outage: Outage
    /// In their order.
    let evidence: [EvidenceRecord]
    /// What people wrote about it, in its order.
    var notes: [OutageNote] = []
    /// Who began it, and intervals inside, by their beginnings; none where that cannot be told.
    var actors: [LedgerInstant: ActingProcess] = [:]
    /// Who began it.
    var actor: ActingProcess? { actors[outage.start] }
    /// Why there is no evidence of the time in which it lasted, for people; nil where there is some, or may be soon.
    var missing: String? {
        guard outage.end != nil, !evidence.isEmpty, !evidence.contains(where: { $0.phase(of: outage) == "during" })
        else { return nil }
        return "it was over before the kernel could be asked why"
    }

    /// One of this run.
    init(_ outage: Outage, _ account: ServiceBooks.Account?) {
        self.outage = outage
        let intervals = account?.intervals ?? []
        let before = intervals.last { $0.start < outage.start }?.start
        let after = outage.end.flatMap { end in
            // From the end, for what is asked for is mostly of late.
            (intervals.reversed().prefix { $0.start >= end }.last?.start)
                ?? account.map(\.ledger.current.start).flatMap { $0 >= end ? $0 : nil }
        }
        let all = [before] + outage.intervals.map(\.start) + [after]
        evidence = all.compactMap { $0 }.compactMap { account?.evidence[$0] }
    }

    /// One that was written down.
    ///
    /// - Parameter entries: Its intervals, and those before and after it; nil where they are none.
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

/// Where an outage is read from.
struct OutageReference {
    let target: String
    let start: LedgerInstant
    let key: OutageKey
    /// The outage, if it is in memory.
    let outage: Outage?

    init(_ outage: Outage) {
        (target, start, self.outage) = (outage.target, outage.start, outage)
        key = OutageKey(of: outage.target, from: outage.start)
    }

    /// An outage that was written down.
    init(_ written: (target: String, start: LedgerInstant)) {
        (target, start, outage) = (written.target, written.start, nil)
        key = OutageKey(of: written.target, from: written.start)
    }
}

/// The order of outages, the latest first, as their ids tell it.
struct OutageKey: Comparable {
    let start: Int64
    private let id: String

    init(of target: String, from start: LedgerInstant) {
        (self.start, id) = (start.nanoseconds, Outage.id(of: target, from: start))
    }

    init?(_ id: String) {
        let parts = id.split(at: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0], radix: 36) else { return nil }
        (self.start, self.id) = (start, id)
    }

    static func < (left: Self, right: Self) -> Bool { (right.start, left.id) < (left.start, right.id) }
}

extension LedgerInstant {
    static let earliest = LedgerInstant(nanoseconds: .min)
    static let latest = LedgerInstant(nanoseconds: .max)
}

extension API {
    /// The outages that a filter admits, the latest first; at most `limit`.
    ///
    /// - Parameter after: Only outages that come after this one in that order.
    func outages(
        _ filter: OutageFilter = OutageFilter(),
        after: OutageKey? = nil,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [ExplainedOutage] {
        var found: [OutageReference] = []
        // Part by part, for some are in memory and on the disk.
        var next: LedgerInstant? = min(after.map { LedgerInstant(nanoseconds: $0.start) } ?? .latest, snapshot.now)
        while let start = next, found.count < limit {
            let part = try references(filter, upTo: start, limit: limit, snapshot)
            found += part.references.filter { reference in after.map { reference.key > $0 } ?? true }
            next = part.next
        }
        return try explained(found.prefix(limit), snapshot)
    }

    /// How many outages a filter admits, and how long they were, by attribution and cause: of memory alone where the disk cannot be read.
    func outageSums(_ filter: OutageFilter, _ snapshot: MonitoringService.Snapshot) -> [OutageSum] {
        if let sums = try? history?.store?.outageSums(filter, at: snapshot.now) { return sums }
        var sums: [TargetState: OutageSum] = [:]
        for outage in snapshot.books.outages(filter, upTo: snapshot.now, limit: .max, at: snapshot.now) {
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

    /// The outage with an id; nil if there is none.
    func outage(with key: OutageKey, _ snapshot: MonitoringService.Snapshot) throws(Problem) -> ExplainedOutage? {
        let start = LedgerInstant(nanoseconds: key.start)
        let found = try references(OutageFilter(), upTo: start, limit: 1, snapshot).references
        return try explained(found.filter { $0.key == key }[...], snapshot).first
    }

    /// Outages from a moment backwards, the latest first: at least `limit`, if there are so many, and none is left out between the first and
    /// the last. What is in memory has precedence, because it knows of the last moment.
    ///
    /// - Returns: With the latest beginning of further outages; nil if there are none.
    private func references(
        _ filter: OutageFilter,
        upTo start: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> (references: [OutageReference], next: LedgerInstant?) {
        let memory = snapshot.books.outages(filter, upTo: start, limit: limit, at: snapshot.now)
        var written: [(target: String, start: LedgerInstant)] = []
        // An outage that lasts is in memory. What an earlier run left open ended with that run.
        if !filter.isOpen {
            do { written = try history?.store?.outageStarts(filter, upTo: start, limit: limit) ?? [] } catch {
                throw Self.unreadable(error)
            }
        }
        // A list that was cut says nothing of what is further back.
        let ends = [memory.map(\.start), written.map(\.start)].filter { $0.count >= limit }.compactMap(\.last)
        let last = ends.max()
        let references =
            memory.map { OutageReference($0) }
            + written.filter { !snapshot.books.knowsOutage(of: $0.target, from: $0.start) }.map { OutageReference($0) }
        return (
            references.filter { reference in last.map { reference.start >= $0 } ?? true }.sorted { $0.key < $1.key },
            last.flatMap { $0 > .earliest ? LedgerInstant(nanoseconds: $0.nanoseconds - 1) : nil }
        )
    }

    private func explained(
        _ references: ArraySlice<OutageReference>,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [ExplainedOutage] {
        var found: [ExplainedOutage] = []
        for reference in references {
            if let outage = reference.outage {
                found.append(ExplainedOutage(outage, snapshot.books.accounts[outage.target]))
                continue
            }
            do {
                let entries = try history?.store?.outage(of: reference.target, from: reference.start) ?? []
                if let outage = ExplainedOutage(of: reference.target, from: reference.start, entries) {
                    found.append(outage)
                }
            } catch { throw Self.unreadable(error) }
        }
        let notes = try notes(on: found.map(\.outage.id), snapshot)
        let actors = try actors(of: found.flatMap(\.outage.actorKeys).map(\.key), snapshot)
        for index in found.indices {
            found[index].notes = notes[found[index].outage.id] ?? []
            for (interval, key) in found[index].outage.actorKeys { found[index].actors[interval] = actors[key] }
        }
        return found
    }

    /// The intervals of a target that overlap a window, the latest first, at least `limit` of them, if there are so many.
    func intervals(
        of target: String,
        from: LedgerInstant,
        to: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [LedgerInterval] {
        let account = snapshot.books.accounts[target]
        let memory = (account.map { $0.intervals + [$0.ledger.current] } ?? []).reversed()
            .filter { ($0.end ?? snapshot.now) > from && $0.start < to }
        guard let store = history?.store else { return memory }
        // What was written before the first that is in memory.
        let begin = min(to, memory.last?.start ?? to)
        do {
            var written = try store.intervals(of: target, from: from, to: begin, limit: limit)
            guard let last = written.first else { return memory }
            // What an earlier run left open ended with it; until this one has begun to write, nobody has said so.
            let end = try last.end ?? max(last.start, min(begin, store.lastMark() ?? begin))
            written[0].end = end
            guard let first = memory.last, end < first.start else { return memory + written }
            let state = TargetState(.unknown, .notObserved)
            return memory + [LedgerInterval(state, from: end, to: first.start, reason: "notObserved")] + written
        } catch { throw Self.unreadable(error) }
    }

    static func unreadable(_ error: any Error) -> Problem {
        Problem(.serviceUnavailable, "the history cannot be read now; /readyz says why")
    }
}
