import GRDB

/// The form of the file, and how each older form becomes the next. What is released never changes. Moments are instants of the ledger,
/// in nanoseconds.
enum HistorySchema {
    /// What the header of a history says it is (`PRAGMA application_id`): the letters RnHi.
    static let applicationID: Int32 = 0x526e_4869

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    -- A boot of the machine: how its clocks stand to the time line.
                    CREATE TABLE boot (
                        id INTEGER PRIMARY KEY,
                        identifier TEXT NOT NULL,
                        start INTEGER NOT NULL,
                        offset INTEGER NOT NULL,
                        label INTEGER NOT NULL,
                        UNIQUE (identifier, offset)
                    ) STRICT;
                    -- A run of the service; it was alive at its mark, and ended at its end, where that is known.
                    CREATE TABLE run (
                        id INTEGER PRIMARY KEY,
                        boot INTEGER NOT NULL REFERENCES boot,
                        start INTEGER NOT NULL,
                        mark INTEGER NOT NULL,
                        "end" INTEGER
                    ) STRICT;
                    CREATE TABLE target (
                        id INTEGER PRIMARY KEY,
                        name TEXT NOT NULL UNIQUE
                    ) STRICT;
                    -- The steps of evidence, each text once.
                    CREATE TABLE steps (
                        id INTEGER PRIMARY KEY,
                        text TEXT NOT NULL UNIQUE
                    ) STRICT;
                    -- The intervals of a target never overlap; the one that lasts has no end.
                    CREATE TABLE interval (
                        target INTEGER NOT NULL REFERENCES target,
                        start INTEGER NOT NULL,
                        "end" INTEGER,
                        attribution TEXT NOT NULL,
                        cause TEXT,
                        basis TEXT NOT NULL,
                        isMaintenance INTEGER NOT NULL,
                        reason TEXT,
                        uncertainty INTEGER NOT NULL,
                        outage INTEGER,
                        steps INTEGER REFERENCES steps,
                        explained INTEGER,
                        PRIMARY KEY (target, start)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX outage ON interval (outage, target) WHERE outage IS NOT NULL;
                    """
            )
        }
        migrator.registerMigration("incidents") { db in try HistoryStore.makeIncidents(db) }
        migrator.registerMigration("checks") { db in
            try db.execute(
                sql: """
                    -- What checks came to within a time, as `CheckBucket` writes it.
                    CREATE TABLE checks (
                        target INTEGER NOT NULL REFERENCES target,
                        length INTEGER NOT NULL,
                        start INTEGER NOT NULL,
                        run INTEGER NOT NULL,
                        text TEXT NOT NULL,
                        PRIMARY KEY (target, start, length, run)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("open") { db in
            // What lasts is looked for at each start.
            try db.execute(sql: "CREATE INDEX lasting ON interval (start) WHERE \"end\" IS NULL")
        }
        migrator.registerMigration("notes") { db in try HistoryStore.makeNotes(db) }
        migrator.registerMigration("days") { db in try HistoryStore.makeDays(db) }
        migrator.registerMigration("actors") { db in try HistoryStore.makeActors(db) }
        migrator.registerMigration("maintenance") { db in try HistoryStore.makeMaintenance(db) }
        migrator.registerMigration("outages") { db in try HistoryStore.makeOutages(db) }
        migrator.registerMigration("sums") { db in
            // The day before which table day has all time of the target, not only that of intervals that were deleted.
            try db.execute(sql: "ALTER TABLE target ADD COLUMN settled INTEGER")
        }
        return migrator
    }
}
