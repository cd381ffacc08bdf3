import GRDB
import LinuxSupport
import ReachabilityLedger
import ServiceLab
import TestSupport
import Testing

@testable import ReachabilityService

/// The table of outages and the queries that use it.
@Suite struct OutageIndexTests {
    private let directory = HistoryDirectory()
    private let store: HistoryStore
    private static let second: Int64 = 1_000_000_000

    init() throws {
        store = try HistoryStore(directory.file)
        try store.database.write { db in
            for id in 1...3 {
                try db.execute(sql: "INSERT INTO target (id, name) VALUES (?, ?)", arguments: [id, "t\(id)"])
            }
        }
    }

    private func add(
        _ target: Int,
        _ start: Int64,
        _ end: Int64?,
        _ state: String,
        _ cause: String?,
        outage: Int64? = nil,
        _ db: Database
    ) throws {
        try db.execute(
            sql: """
                INSERT INTO interval (target, start, "end", attribution, cause, basis, isMaintenance, uncertainty, outage)
                VALUES (?, ?, ?, ?, ?, 'path', 0, 0, ?)
                """,
            arguments: [target, start, end, state, cause, outage]
        )
    }

    /// Returns the rows that the table must have according to the intervals.
    private func expected(_ db: Database) throws -> [[DatabaseValue]] {
        let rows = try Row.fetchAll(
            db,
            sql: "SELECT * FROM interval WHERE outage IS NOT NULL ORDER BY outage, target, start"
        )
        let groups = Dictionary(grouping: rows) { row in [row["outage"] as Int64, row["target"] as Int64] }
        return groups.sorted { ($0.key[0], $0.key[1]) < ($1.key[0], $1.key[1]) }.map { key, rows in
            var longest = rows[0]
            func length(_ row: Row) -> Int64 {
                let start: Int64 = row["start"]
                return (row["end"] as Int64? ?? start) - start
            }
            for row in rows.dropFirst() where length(row) > length(longest) { longest = row }
            return [
                key[1].databaseValue, key[0].databaseValue, rows.last?["end"] ?? .null, longest["attribution"],
                longest["cause"],
            ]
        }
    }

    private func found(_ db: Database) throws -> [[DatabaseValue]] {
        try Row.fetchAll(db, sql: "SELECT * FROM outages ORDER BY start, target").map { Array($0.databaseValues) }
    }

    @Test func `triggers keep the table of outages equal to the intervals`() throws {
        var chance = SeededGenerator(seed: 34)
        try store.database.write { db in
            for turn in 0..<300 {
                let target = Int.random(in: 1...3, using: &chance)
                let start = Int64(turn) * 100
                let parts = Int.random(in: 1...3, using: &chance)
                for part in 0..<parts {
                    let isLast = part == parts - 1
                    let begin = start + Int64(part) * 10
                    let end = isLast && turn % 7 == 0 ? nil : begin + Int64.random(in: 1...10, using: &chance)
                    let state = ["us", "them", "upstream"].randomElement(using: &chance) ?? "us"
                    try add(target, begin, end, state, turn % 2 == 0 ? "link" : nil, outage: start, db)
                }
                let other = Int64.random(in: 0...Int64(turn), using: &chance) * 100
                let changes = [
                    "UPDATE interval SET attribution = 'them', cause = 'host' WHERE start = \(other)",
                    "UPDATE interval SET \"end\" = start + 9 WHERE \"end\" IS NULL AND start <= \(other)",
                    "UPDATE interval SET outage = NULL WHERE start = \(other)",
                    "UPDATE interval SET outage = start WHERE start = \(other)",
                    "DELETE FROM interval WHERE start = \(other)",
                    "DELETE FROM interval WHERE outage = \(other)",
                    """
                    INSERT INTO interval (target, start, "end", attribution, basis, isMaintenance, uncertainty, outage)
                    VALUES (\(target), \(start), \(start + 10), 'us', 'path', 0, 0, \(start))
                    ON CONFLICT DO UPDATE SET "end" = excluded."end", attribution = excluded.attribution
                    """,
                ]
                try db.execute(sql: changes.randomElement(using: &chance) ?? "")
            }
            #expect(try found(db) == expected(db))
            #expect(try found(db).count > 100)
            // Migrates a database of an older version.
            let triggers = ["Added", "Changed", "Removed"].map { "DROP TRIGGER interval\($0);" }
            try db.execute(sql: triggers.joined() + "DROP TABLE outages")
            try db.execute(sql: HistoryStore.outageTable)
            #expect(try found(db) == expected(db))
        }
    }

    /// The filters with all combinations of properties.
    private static let filters: [OutageFilter] = (0..<64).map { bits in
        var filter = OutageFilter(target: bits & 1 != 0 ? "t1" : nil)
        if bits & 2 != 0 { filter.attribution = .them }
        if bits & 4 != 0 { filter.cause = .host }
        if bits & 8 != 0 { filter.from = LedgerInstant(nanoseconds: 5_000) }
        if bits & 32 != 0 { filter.targets = ["t1", "t3"] }
        if bits & 16 != 0 { filter.to = LedgerInstant(nanoseconds: 9_000) }
        return filter
    }

    @Test(arguments: filters) func `lists of outages are read from an index`(filter: OutageFilter) throws {
        let plan = try store.database.read { db in
            let request = try HistoryStore.request(filter, upTo: LedgerInstant(nanoseconds: .max), db)
            return try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + request.sql, arguments: request.arguments)
                .map { $0["detail"] as String }
        }
        // The query sorts nothing and scans no table.
        #expect(!plan.contains { $0.contains("TEMP B-TREE") || $0.hasPrefix("SCAN") }, "\(plan)")
    }

    @Test func `the earliest outage of a window is found without reading all outages`() throws {
        let plan = try store.database.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + HistoryStore.earliestOutage, arguments: [5, 5])
                .map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.contains("SEARCH outages") && $0.contains("target=?") }, "\(plan)")
        #expect(!plan.contains { $0.contains("outages USING PRIMARY KEY (start>") }, "\(plan)")
    }

    @Test(arguments: filters) func `sums count exactly the matching outages`(filter: OutageFilter) throws {
        let day: Int64 = 86_400 * 1_000_000_000
        try store.database.write { db in
            for turn in 0..<200 {
                let start = Int64(turn) * 100
                let state = [("them", "host"), ("us", "link"), ("them", nil)][turn % 3]
                try add(turn % 3 + 1, start, start + 50, state.0, state.1, outage: start, db)
            }
        }
        // A window of more than 90 days is read in another order.
        for now in [day, 91 * day].map(LedgerInstant.init(nanoseconds:)) {
            let found = try store.outageStarts(filter, upTo: now, limit: .max)
            let sums = try store.outageSums(filter, at: now)
            #expect(sums.reduce(0) { $0 + $1.count } == found.count)
            for sum in sums {
                let kind = found.filter { ($0.state.attribution, $0.state.cause) == (sum.attribution, sum.cause) }
                #expect(sum.count == kind.count && sum.time > .zero)
            }
        }
    }

    @Test func `an outage is read and updated without reading other intervals of its target`() throws {
        for sql in [HistoryStore.intervalsOfOutage, HistoryStore.outageRow(of: "?1", from: "?2")] {
            let plan = try store.database.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: [1, 5]).map { $0["detail"] as String }
            }
            let reads = plan.filter { $0.contains("interval") || $0.contains("later") }
            #expect(
                !reads.isEmpty && reads.allSatisfy { $0.contains("USING INDEX outage (outage=? AND target=?)") },
                "\(plan)"
            )
        }
    }

    @Test(arguments: filters) func `a filter returns exactly the matching outages`(filter: OutageFilter) throws {
        try store.database.write { db in
            for turn in 0..<200 {
                let start = Int64(turn / 2 * 100)
                let state = [("them", "host"), ("us", "link"), ("them", nil)][turn % 3]
                // An outage of the third target continues while the other two have many more.
                let isLong = turn == 1
                let end = isLong ? 5_050 : start + 50
                try add(turn % 2 + (isLong ? 2 : 1), start, end, state.0, state.1, outage: start, db)
            }
        }
        let all = try store.outageStarts(upTo: LedgerInstant(nanoseconds: .max), limit: .max)
        #expect(all.count == 200)
        let wanted = try all.filter { outage in
            let (target, start) = (outage.target, outage.start)
            let intervals = try store.outage(of: target, from: start).map(\.interval)
            let own = intervals.filter { $0.start == start }
            return filter.admits(Outage(of: target, own, before: nil), at: LedgerInstant(nanoseconds: .max))
                && filter.targets?.contains(target) ?? true
        }.map(\.start)
        let found = try store.outageStarts(filter, upTo: LedgerInstant(nanoseconds: .max), limit: .max).map(\.start)
        #expect(found == wanted)
    }

    @Test func `intervals before a window are not read`() throws {
        let plan = try store.database.read { db in
            try Row.fetchAll(
                db,
                sql: "EXPLAIN QUERY PLAN " + HistoryStore.overlapping + " ORDER BY start DESC LIMIT 10",
                arguments: [1, 9, 1, 5, 5, 5]
            ).map { $0["detail"] as String }
        }
        #expect(plan.first?.contains("start>? AND start<?") == true, "\(plan)")
        try store.database.write { db in
            for turn in 0..<100 {
                try add(1, Int64(turn * 10), Int64(turn * 10 + 10), turn % 2 == 0 ? "up" : "us", nil, db)
            }
        }
        func starts(_ from: Int64, _ to: Int64) throws -> [Int64] {
            try store.intervals(
                of: "t1",
                from: LedgerInstant(nanoseconds: from),
                to: LedgerInstant(nanoseconds: to),
                limit: .max
            ).map(\.start.nanoseconds)
        }
        #expect(try starts(505, 521) == [520, 510, 500])
        #expect(try starts(500, 520) == [510, 500])
        #expect(try starts(-10, 5) == [0])
        #expect(try starts(.min, .max).count == 100)
        #expect(try starts(1000, .max).isEmpty)
    }
}
