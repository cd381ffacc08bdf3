import GRDB

/// The form of the file, and how each older form becomes the next. What is released never changes. Times are milliseconds since 1970 by
/// the hub's clock; a `record` is JSON as the fleet writes it.
enum HubSchema {
    /// What the header of the file says it is (`PRAGMA application_id`): the letters RnHu.
    static let applicationID: Int32 = 0x526e_4875

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    CREATE TABLE device (
                        site TEXT NOT NULL,
                        device TEXT NOT NULL,
                        record TEXT NOT NULL,
                        PRIMARY KEY (site, device)
                    ) STRICT, WITHOUT ROWID;
                    CREATE TABLE incident (
                        id TEXT NOT NULL PRIMARY KEY,
                        site TEXT NOT NULL,
                        start INTEGER NOT NULL,
                        "end" INTEGER,
                        attribution TEXT NOT NULL,
                        cause TEXT,
                        isUnexplained INTEGER NOT NULL,
                        isHarmless INTEGER NOT NULL,
                        deviceCount INTEGER NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX incidentByStart ON incident (start, id);
                    CREATE INDEX incidentBySite ON incident (site, start, id);
                    CREATE INDEX incidentOpen ON incident (start, id) WHERE "end" IS NULL;
                    -- What befell a machine in an incident.
                    CREATE TABLE part (
                        incident TEXT NOT NULL REFERENCES incident,
                        device TEXT NOT NULL,
                        record TEXT NOT NULL,
                        PRIMARY KEY (incident, device)
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX partByDevice ON part (device, incident);
                    -- The outages of machines by the ids these gave them: none makes two incidents.
                    CREATE TABLE outage (
                        site TEXT NOT NULL,
                        device TEXT NOT NULL,
                        id TEXT NOT NULL,
                        PRIMARY KEY (site, device, id)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("2") { db in
            try db.execute(
                sql: """
                    -- What is being told of, and for a while what was.
                    CREATE TABLE told (
                        incident TEXT NOT NULL PRIMARY KEY,
                        site TEXT NOT NULL,
                        start INTEGER NOT NULL,
                        noticed INTEGER NOT NULL,
                        since INTEGER NOT NULL,
                        attribution TEXT NOT NULL,
                        cause TEXT
                    ) STRICT, WITHOUT ROWID;
                    -- What a courier has told of one; nothing more is told where it is finished.
                    CREATE TABLE delivery (
                        incident TEXT NOT NULL REFERENCES told ON DELETE CASCADE,
                        courier TEXT NOT NULL,
                        attribution TEXT NOT NULL,
                        cause TEXT,
                        refinements INTEGER NOT NULL,
                        digests INTEGER NOT NULL,
                        endings INTEGER NOT NULL,
                        isFinished INTEGER NOT NULL,
                        PRIMARY KEY (incident, courier)
                    ) STRICT, WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("age") { db in
            // The clock that retention goes by (`HubAge`). One row.
            try db.execute(
                sql: """
                    CREATE TABLE age (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        boot TEXT NOT NULL,
                        bootTime INTEGER NOT NULL,
                        realTime INTEGER NOT NULL,
                        time INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        return migrator
    }
}
