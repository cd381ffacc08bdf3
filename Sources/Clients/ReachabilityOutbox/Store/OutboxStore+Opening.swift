import Dispatch
import GRDB
import Logging

/// Opening holds a lock that excludes others who open: two processes would change the form of the file both, or set aside
/// what the other has just begun anew.
extension OutboxStore {
    static func open(file: String, options: OutboxOptions) async throws(OutboxError) -> OutboxStore {
        let queue = DispatchQueue(label: "ReachabilityOutbox.opening")
        let file = OutboxFile.resolved(file)
        return try await offPool(queue, file) { try openNow(file: file, options: options) }
    }

    private static func openNow(file: String, options: OutboxOptions) throws -> OutboxStore {
        // Nothing is made beside a stranger's file, not even a lock.
        _ = try OutboxFile.isOutbox(file)
        let lock = try FileLock.take(lockFile(of: file), for: .opening, waits: true)
        defer { withExtendedLifetime(lock) {} }
        if try OutboxFile.isOutbox(file) {
            try OutboxFile.makePrivate(file)
        } else if let keptAs = CorruptFile.left(beside: file), !options.replacesCorruptFile {
            throw OutboxError.corrupt(file: file, keptAs: keptAs)
        } else {
            try OutboxFile.make(file)
        }
        do {
            return OutboxStore(file: file, options: options, database: try connect(file))
        } catch let error where OutboxError(error, file: file).isCorruption {
            // Whoever sends has the file open; it will see for itself.
            guard let sending = try FileLock.take(lockFile(of: file), for: .sending, waits: false) else { throw error }
            defer { withExtendedLifetime(sending) {} }
            let keptAs = try CorruptFile.setAside(file, at: options.realTime())
            options.logger?.error("the outbox is corrupt", metadata: ["file": "\(file)", "keptAs": "\(keptAs)"])
            guard options.replacesCorruptFile else { throw OutboxError.corrupt(file: file, keptAs: keptAs) }
            try OutboxFile.make(file)
            return OutboxStore(file: file, options: options, database: try connect(file))
        }
    }

    private static func connect(_ file: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "ReachabilityOutbox"
        configuration.journalMode = .wal
        // SQLite lets nobody stand in line: beside a process that writes without a pause, a slow one may have bad luck for long.
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase { db in
            // What is deleted held secrets.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
            try check(db, file)
        }
        let database = try DatabaseQueue(path: OutboxFile.databasePath(file), configuration: configuration)
        // GRDB has just set it to NORMAL, with which a power cut may take back what was promised.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try OutboxSchema.migrator.migrate(database)
        // A process that was killed may have left in it what it had just deleted.
        OutboxStore.emptyLog(database)
        return database
    }

    /// Whether the file is whole, and of a form that is known.
    static func check(_ db: Database, _ file: String) throws {
        if let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)"), finding != "ok" {
            throw OutboxError.corrupt(file: file, keptAs: nil)
        }
        if try OutboxSchema.migrator.hasBeenSuperseded(db) { throw OutboxError.newerFormat(file) }
    }
}

extension OutboxError {
    fileprivate var isCorruption: Bool {
        if case .corrupt = self { true } else { false }
    }
}
