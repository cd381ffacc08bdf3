import LinuxPrimitives
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
        let starts = (account?.intervals ?? []).map(\.start) + (account.map { [$0.ledger.current.start] } ?? [])
        let before = starts.last { $0 < outage.start }
        let after = outage.end.flatMap { end in starts.first { $0 >= end } }
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

extension API {
    /// The outages from a moment backwards, the latest first: at least `limit` of them, if there are so many, and none is left out between
    /// the first and the last. What is in memory comes before what was written, for it knows of the last moment.
    func outages(
        of target: String?,
        upTo start: LedgerInstant,
        limit: Int,
        _ snapshot: MonitoringService.Snapshot
    ) throws(Problem) -> [ExplainedOutage] {
        let memory = snapshot.books.outages(of: target).filter { $0.start <= start }
        var found = memory.map { ExplainedOutage($0, snapshot.books.accounts[$0.target]) }
        let known = Set(memory.map(\.id))
        if let store = history?.store {
            do {
                let starts = try store.outageStarts(of: target, upTo: start, limit: limit)
                // Further back some are in memory, and others only written.
                if starts.count >= limit, let last = starts.last?.start { found.removeAll { $0.outage.start < last } }
                for (name, begin) in starts {
                    guard !known.contains(Outage.id(of: name, from: begin)) else { continue }
                    let entries = try store.outage(of: name, from: begin)
                    if let outage = ExplainedOutage(of: name, from: begin, entries) { found.append(outage) }
                }
            } catch { throw Self.unreadable(error) }
        }
        found.sort { ($1.outage.start, $0.outage.id) < ($0.outage.start, $1.outage.id) }
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
            var written = try store.intervals(of: target, from: from, to: begin, limit: limit).map(\.interval)
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
