import Dispatch
import GRDB
import Glibc
import Logging

/// Opening holds a lock that excludes others who open: two processes would change the form of the file both, or set aside
/// what the other has just begun anew.
extension OutboxStore {
    static func open(file: String, options: OutboxOptions) async throws(OutboxError) -> OutboxStore {
        let queue = DispatchQueue(label: "ReachabilityOutbox.opening")
        return try await offPool(queue, file) { try openNow(file: file, options: options) }
    }

    private static func openNow(file: String, options: OutboxOptions) throws -> OutboxStore {
        let lock = try FileLock.take(lockFile(of: file), for: .opening, waits: true)
        defer { withExtendedLifetime(lock) {} }
        if let keptAs = CorruptFile.left(beside: file), !options.replacesCorruptFile {
            throw OutboxError.corrupt(file: file, keptAs: keptAs)
        }
        try makePrivate(file)
        do {
            return OutboxStore(file: file, options: options, database: try connect(file))
        } catch let error where OutboxError(error, file: file).isCorruption {
            // Whoever sends has the file open; it will see for itself.
            guard let sending = try FileLock.take(lockFile(of: file), for: .sending, waits: false) else { throw error }
            defer { withExtendedLifetime(sending) {} }
            let keptAs = try CorruptFile.setAside(file, at: options.clock.now)
            options.logger?.error("the outbox is corrupt", metadata: ["file": "\(file)", "keptAs": "\(keptAs)"])
            guard options.replacesCorruptFile else { throw OutboxError.corrupt(file: file, keptAs: keptAs) }
            try makePrivate(file)
            return OutboxStore(file: file, options: options, database: try connect(file))
        }
    }

    /// Makes the file if it is missing, and takes it from the group and from others; what SQLite keeps beside it gets the same
    /// mode. One that exists is not opened here: closing it would take SQLite's own locks away (`fcntl(2)`).
    private static func makePrivate(_ file: String) throws(Errno) {
        let descriptor = unsafe Glibc.open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw .current
        }
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .current }
        if status.st_mode & 0o777 != 0o600, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() {
            guard unsafe chmod(file, 0o600) == 0 else { throw .current }
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
            // Before anything is written: a stranger's file stays as it is.
            try check(db, file)
        }
        let database = try DatabaseQueue(path: file, configuration: configuration)
        // GRDB has just set it to NORMAL, with which a power cut may take back what was promised.
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let isSuperseded = try database.read { try OutboxSchema.migrator.hasBeenSuperseded($0) }
        if isSuperseded { throw OutboxError.newerFormat(file) }
        try OutboxSchema.migrator.migrate(database)
        return database
    }

    private static func check(_ db: Database, _ file: String) throws {
        if let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)"), finding != "ok" {
            throw OutboxError.corrupt(file: file, keptAs: nil)
        }
        let identifier = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard identifier != OutboxSchema.applicationID else { return }
        // An outbox whose making was cut short has nothing in it, or only what GRDB begins with.
        let strangers = "SELECT count(*) FROM sqlite_schema WHERE tbl_name <> 'grdb_migrations'"
        if try identifier != 0 || Int.fetchOne(db, sql: strangers) != 0 { throw OutboxError.foreignFile(file) }
    }
}

extension OutboxError {
    fileprivate var isCorruption: Bool {
        if case .corrupt = self { true } else { false }
    }
}
