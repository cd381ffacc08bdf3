import GRDB
import LinuxSupport
import ReachabilityLedger

extension HistoryStore {
    /// What the writer knows of a target between two transactions.
    struct Pen: Sendable {
        var id: Int64
        /// What earlier runs wrote ends here; nothing of this run is written before it.
        var floor: LedgerInstant
        /// When the outage began that lasts.
        var outage: LedgerInstant?
        /// Where the last interval ended that was written; nil where it lasts, or there is none.
        var end: LedgerInstant?
    }

    /// Writes events of a run in one transaction: all of them are on the disk when it returns, or none.
    func write(_ events: [ServiceEvent], run: Int64, line: TimeLine, _ pens: inout [String: Pen]) throws {
        var changed = pens
        try database.write { db in
            for event in events {
                try self.write(event, line, &changed, db)
            }
            if let last = events.last { try Self.mark(run, at: last.instant, db) }
        }
        pens = changed
    }

    private func write(_ event: ServiceEvent, _ line: TimeLine, _ pens: inout [String: Pen], _ db: Database) throws {
        guard let target = event.target else {
            switch event.kind {
            case .clockStepped:
                try db.execute(
                    sql: "UPDATE boot SET label = ? WHERE identifier = ? AND offset = ?",
                    arguments: [line.labelOffset, line.bootIdentifier, line.offset]
                )
            case .maintenancePlanned(let planned):
                try Self.write(planned, at: line.wall(at: event.instant), db)
            case .maintenanceCancelled(let id): try Self.cancelMaintenance(id, db)
            default: break
            }
            return
        }
        switch event.kind {
        case .intervalOpened(let interval), .intervalClosed(let interval), .intervalRefined(let interval):
            var pen = try pens[target] ?? makePen(target, interval, db)
            try fillGap(before: interval.start, &pen, db)
            try write(interval, &pen, db)
            pen.end = interval.end
            pens[target] = pen
        case .explained(let record):
            guard let pen = pens[target] else { return }
            try write(record, pen, db)
        case .noted(let note): try Self.write(note, db)
        case .actorFound(let actor): try Self.write(actor, db)
        case .outageBegan, .outageRefined, .outageEnded, .clockStepped, .resumed,
            .maintenancePlanned, .maintenanceCancelled:
            break
        }
    }

    private func write(_ interval: LedgerInterval, _ pen: inout Pen, _ db: Database) throws {
        let start = max(interval.start, pen.floor)
        if interval.state.isOutage {
            // What follows an outage without a gap goes on with it.
            if pen.outage == nil { pen.outage = start }
        } else {
            pen.outage = nil
        }
        if let end = interval.end, end <= start {
            // It came to nothing.
            try db.execute(
                sql: "DELETE FROM interval WHERE target = ? AND start = ?",
                arguments: [pen.id, start.nanoseconds]
            )
            return
        }
        try db.execute(
            sql: """
                INSERT INTO interval
                    (target, start, "end", attribution, cause, basis, isMaintenance, reason, uncertainty, outage)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET "end" = excluded."end", attribution = excluded.attribution,
                    cause = excluded.cause, basis = excluded.basis, isMaintenance = excluded.isMaintenance,
                    reason = excluded.reason, uncertainty = excluded.uncertainty, outage = excluded.outage
                """,
            arguments: [
                pen.id, start.nanoseconds, interval.end?.nanoseconds, interval.state.attribution.rawValue,
                interval.state.cause?.rawValue, interval.state.basis.rawValue, interval.state.isMaintenance,
                interval.reason, interval.uncertainty.nanoseconds, pen.outage?.nanoseconds,
            ]
        )
    }

    private func write(_ record: EvidenceRecord, _ pen: Pen, _ db: Database) throws {
        let text = record.steps.text
        try db.execute(sql: "INSERT INTO steps (text) VALUES (?) ON CONFLICT DO NOTHING", arguments: [text])
        try db.execute(
            sql: """
                UPDATE interval SET steps = (SELECT id FROM steps WHERE text = ?), explained = ?
                WHERE target = ? AND start = ?
                """,
            arguments: [
                text, record.instant.nanoseconds, pen.id, max(record.interval, pen.floor).nanoseconds,
            ]
        )
    }

    /// The time since a target was observed last, in an earlier run or before it was watched no more, is written down as what nobody
    /// observed.
    private func fillGap(before start: LedgerInstant, _ pen: inout Pen, _ db: Database) throws {
        guard let end = pen.end, end < start else { return }
        let state = TargetState(.unknown, .notObserved)
        try write(LedgerInterval(state, from: end, to: start, reason: "notObserved"), &pen, db)
    }

    /// The first of a target in this run. An interval that begins where the last one of an earlier run began is the same, and continues.
    private func makePen(_ target: String, _ interval: LedgerInterval, _ db: Database) throws -> Pen {
        try db.execute(sql: "INSERT INTO target (name) VALUES (?) ON CONFLICT DO NOTHING", arguments: [target])
        guard let id = try Int64.fetchOne(db, sql: "SELECT id FROM target WHERE name = ?", arguments: [target]) else {
            throw DatabaseError(resultCode: .SQLITE_ERROR)
        }
        let last = try Row.fetchOne(
            db,
            sql: "SELECT start, \"end\", outage FROM interval WHERE target = ? ORDER BY start DESC LIMIT 1",
            arguments: [id]
        )
        if let last, let outage = last["outage"] as Int64?, last["start"] == interval.start.nanoseconds {
            return Pen(id: id, floor: interval.start, outage: LedgerInstant(nanoseconds: outage))
        }
        let end = (last?["end"] as Int64?).map { LedgerInstant(nanoseconds: $0) }
        return Pen(id: id, floor: end ?? LedgerInstant(nanoseconds: .min), end: end)
    }
}
