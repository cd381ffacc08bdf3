import GRDB

/// The form of the file, and how each older form becomes the next. What is released never changes.
enum OutboxSchema {
    /// What an outbox's header says it is (`PRAGMA application_id`): the letters RnOb.
    static let applicationID: Int32 = 0x526e_4f62

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(
                sql: """
                    CREATE TABLE request (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        host TEXT NOT NULL,
                        origin TEXT NOT NULL,
                        priority INTEGER NOT NULL,
                        dedupeKey TEXT UNIQUE,
                        idempotencyKey TEXT NOT NULL,
                        enqueuedAt INTEGER NOT NULL,
                        expiresAt INTEGER,
                        notBefore INTEGER,
                        attempts INTEGER NOT NULL DEFAULT 0,
                        isClaimed INTEGER NOT NULL DEFAULT 0,
                        size INTEGER NOT NULL,
                        method TEXT NOT NULL,
                        url TEXT NOT NULL,
                        headers TEXT NOT NULL,
                        body BLOB NOT NULL
                    ) STRICT;
                    CREATE INDEX requestOrder ON request (host, priority DESC, id);
                    CREATE INDEX requestExpiry ON request (expiresAt) WHERE expiresAt IS NOT NULL;
                    CREATE INDEX requestSize ON request (size);
                    """
            )
        }
        migrator.registerMigration("2") { db in
            // Keys of what was delivered: putting it in again changes nothing.
            try db.execute(
                sql: """
                    CREATE TABLE delivered (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        dedupeKey TEXT NOT NULL UNIQUE,
                        deliveredAt INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("3") { db in
            // The queue is the origin's; a default port is no other origin. What was refused for good is kept in a table of its own.
            try db.execute(
                sql: """
                    ALTER TABLE request ADD COLUMN lastError TEXT;
                    ALTER TABLE request ADD COLUMN nextTryAt INTEGER;
                    UPDATE request SET origin = substr(origin, 1, length(origin) - 4) WHERE origin LIKE 'https://%:443';
                    UPDATE request SET origin = substr(origin, 1, length(origin) - 3) WHERE origin LIKE 'http://%:80';
                    DROP INDEX requestOrder;
                    CREATE INDEX requestOrder ON request (origin, priority DESC, id);
                    CREATE TABLE dead (
                        id INTEGER PRIMARY KEY,
                        host TEXT NOT NULL,
                        origin TEXT NOT NULL,
                        priority INTEGER NOT NULL,
                        dedupeKey TEXT,
                        idempotencyKey TEXT NOT NULL,
                        enqueuedAt INTEGER NOT NULL,
                        expiresAt INTEGER,
                        attempts INTEGER NOT NULL,
                        size INTEGER NOT NULL,
                        method TEXT NOT NULL,
                        url TEXT NOT NULL,
                        headers TEXT NOT NULL,
                        body BLOB NOT NULL,
                        lastError TEXT NOT NULL,
                        diedAt INTEGER NOT NULL
                    ) STRICT;
                    """
            )
        }
        migrator.registerMigration("clock") { db in
            // How the system's clock stood when a process looked last (`ClockReading`). One row.
            try db.execute(
                sql: """
                    CREATE TABLE clock (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        boot TEXT NOT NULL,
                        bootTime INTEGER NOT NULL,
                        realTime INTEGER NOT NULL
                    ) STRICT;
                    -- How long a request may wait, whatever the clock is set to meanwhile.
                    ALTER TABLE request ADD COLUMN lifetime INTEGER;
                    ALTER TABLE dead ADD COLUMN lifetime INTEGER;
                    """
            )
        }
        return migrator
    }
}
