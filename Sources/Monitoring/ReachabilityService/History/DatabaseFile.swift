package import GRDB
import LinuxSupport
package import ReachabilityLedger

/// The schema of a database: its application ID, its migrations, and the checks of an existing file.
package struct DatabaseSchema: Sendable {
    /// The application ID in the header (`PRAGMA application_id`).
    package let applicationID: Int32
    /// The name of the program that owns the file, for error messages.
    private let owner: String
    let migrator: DatabaseMigrator
    private let create: @Sendable (Database) throws -> Void
    private let check: @Sendable (Database) throws -> Void

    /// - Parameters:
    ///   - create: Prepares an empty file before the first migration.
    ///   - check: Checks an existing file before the first write.
    package init(
        applicationID: Int32,
        owner: String,
        migrator: DatabaseMigrator,
        create: @escaping @Sendable (Database) throws -> Void = { _ in },
        check: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) {
        (self.applicationID, self.owner, self.migrator) = (applicationID, owner, migrator)
        (self.create, self.check) = (create, check)
    }

    /// Creates an empty file or checks an existing one.
    ///
    /// - Throws: ``HistoryError`` if the file belongs to another program or a later version.
    fileprivate func prepare(_ db: Database, _ file: String) throws {
        let identifier = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") ?? 0
        if identifier == 0, tables == 0 { return try create(db) }
        guard identifier == applicationID else { throw foreign(file) }
        if try migrator.hasBeenSuperseded(db) {
            let hint = "install that version, or name another file with --history"
            throw HistoryError(.foreign, file, "it was written by a later version of this program; \(hint)")
        }
        try check(db)
    }

    /// Reads all pages. This takes long for a large file.
    package static func checkPages(_ db: Database) throws {
        if let finding = try String.fetchOne(db, sql: "PRAGMA quick_check(1)"), finding != "ok" {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding)
        }
    }

    /// Checks that the file has all tables and columns, because a value of another type cannot be read.
    fileprivate func checkTables(_ db: Database, _ file: String) throws {
        let missing = try empty().read(Self.columns).subtracting(Self.columns(db))
        guard missing.isEmpty else { throw foreign(file, "it has other tables than a \(owner) creates") }
    }

    /// Databases with all tables and no rows, keyed by their owner. They stay, because Dispatch disposes of a queue of GRDB on a thread whose
    /// monitor then wakes the process every second permanently.
    private static let empties = Locked<[String: DatabaseQueue]>([:])

    /// Returns a database in memory with all tables and no rows.
    private func empty() throws -> DatabaseQueue {
        try Self.empties.withLock { empties in
            if let known = empties[owner] { return known }
            let database = try DatabaseQueue()
            try migrator.migrate(database)
            empties[owner] = database
            return database
        }
    }

    private static func columns(_ db: Database) throws -> Set<String> {
        let sql = """
            SELECT list.name || ' ' || strict || ' ' || info.name || ' ' || info.type || ' ' || "notnull"
            FROM pragma_table_list AS list JOIN pragma_table_info(list.name) AS info WHERE list.schema = 'main'
            """
        return try String.fetchSet(db, sql: sql)
    }

    /// Returns whether a file that cannot be read may be a database of this schema: its header has the application ID, or none because that is in the
    /// log, or was overwritten with zeros by a power failure.
    fileprivate func owns(_ file: String) -> Bool {
        let header = (try? ReadableFile(file).read(100, at: 0)) ?? []
        guard header.count == 100 else { return false }
        let identifier = header[68..<72].reduce(0) { $0 << 8 | UInt32($1) }
        let isUnnamed = identifier == 0 && header.starts(with: "SQLite format 3\0".utf8)
        return identifier == UInt32(bitPattern: applicationID) || isUnnamed || header.allSatisfy { $0 == 0 }
    }

    fileprivate func foreign(_ file: String, _ reason: String? = nil) -> HistoryError {
        let reason = reason ?? "it is not a database of a \(owner), or its header is damaged"
        return HistoryError(.foreign, file, "\(reason); move it away, or name another file with --history")
    }
}

/// A SQLite file with a single writing process. Readers do not block the writer. Thread-safe.
package final class DatabaseFile: Sendable {
    package let path: String
    let database: any DatabaseWriter
    /// The new name of a damaged file that was renamed.
    package let damaged: String?
    /// The identities of the files when they were opened; nil for a database in memory.
    private let identities: FileIdentities?
    /// The lock file, which is held until the database is closed.
    private let lock: Locked<LockFile?>

    /// Opens a file, or creates it with mode 0600. A damaged file is renamed and replaced by an empty one.
    package init(_ path: String, _ schema: DatabaseSchema) throws(HistoryError) {
        do {
            lock = Locked(try LockFile(path + ".lock"))
            (database, damaged) = try Self.open(path, schema)
        } catch {
            throw HistoryError(error, file: path)
        }
        self.path = path
        identities = FileIdentities(path)
    }

    /// Creates a database in memory.
    package init(inMemory schema: DatabaseSchema) throws(HistoryError) {
        (path, identities, lock, damaged) = (":memory:", nil, Locked(nil), nil)
        do {
            let queue = try DatabaseQueue()
            try schema.migrator.migrate(queue)
            database = queue
        } catch {
            throw HistoryError(error, file: ":memory:")
        }
    }

    private static func open(_ path: String, _ schema: DatabaseSchema) throws -> (DatabasePool, damaged: String?) {
        func connect() throws -> DatabasePool {
            var configuration = Configuration()
            configuration.busyMode = .timeout(1)
            configuration.maximumReaderCount = 2
            configuration.prepareDatabase { db in
                guard !db.configuration.readonly else { return }
                try schema.prepare(db, path)
                // With FULL, a committed transaction survives a power failure.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(sql: "PRAGMA journal_size_limit = 1048576")
            }
            let pool = try DatabasePool(path: path.hasPrefix("/") ? path : "./" + path, configuration: configuration)
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try schema.migrator.migrate(pool)
            try pool.writeWithoutTransaction { try schema.checkTables($0, path) }
            return pool
        }
        try OwnFile.make(path)
        do {
            return (try connect(), nil)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // A table or a column is missing.
            throw schema.foreign(path, error.message)
        } catch let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) {
            let name = try setAside(path, schema)
            try OwnFile.make(path)
            return (try connect(), name)
        }
    }

    /// Runs a read-only transaction.
    package func read<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        do { return try database.read(body) } catch { throw HistoryError(error, file: path) }
    }

    /// Runs a transaction. It is on the disk when the call returns. If the call throws, it has no effect.
    package func write<Value>(_ body: (Database) throws -> Value) throws(HistoryError) -> Value {
        do { return try database.write(body) } catch { throw HistoryError(error, file: path) }
    }

    /// Runs statements that are not allowed in a transaction, such as some pragmas.
    package func writeWithoutTransaction<Value>(
        _ body: (Database) throws -> Value
    ) throws(HistoryError) -> Value {
        do { return try database.writeWithoutTransaction(body) } catch { throw HistoryError(error, file: path) }
    }

    /// A Boolean value that indicates whether the path still leads to the open file. If the file was deleted, moved or replaced, writes are
    /// lost.
    package var isInPlace: Bool { identities?.areInPlace ?? true }

    /// Merges the write-ahead log into the file and closes it. The file alone is then a complete copy, also if it was moved while it was open.
    package func close() {
        let isLost = !isInPlace
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try? database.close()
        if isLost { identities?.removeRest() }
        lock.withLock { $0 = nil }
    }

    /// Renames a damaged file, its write-ahead log and its shared memory to `PATH.corrupt-SECONDS`.
    @discardableResult
    package static func setAside(_ path: String, _ schema: DatabaseSchema) throws -> String {
        guard schema.owns(path) else { throw schema.foreign(path) }
        let name = "\(path).corrupt-\(SystemClock.real.components.seconds)"
        try OwnFile.rename(path, to: name)
        for suffix in FileIdentities.suffixes { try? OwnFile.rename(path + suffix, to: name + suffix) }
        return name
    }

    /// A warning about a damaged file that was renamed.
    package var warning: String? {
        damaged.map { name in
            "the history \(path.printable) is damaged: it was renamed to \(name.printable), and a new one was created"
        }
    }
}

/// The identities of a database file, its write-ahead log and its shared memory. They show whether other files have taken the paths.
private struct FileIdentities: Sendable {
    static let suffixes = ["-wal", "-shm"]

    private let file: String
    private let own: [String: NamespaceIdentity]

    init(_ file: String) {
        self.file = file
        own = Dictionary(
            uniqueKeysWithValues: ([""] + Self.suffixes).compactMap { suffix in
                Self.identity(file + suffix).map { (suffix, $0) }
            }
        )
    }

    /// A Boolean value that indicates whether the path still leads to the same file.
    var areInPlace: Bool { Self.identity(file) == own[""] }

    /// Removes the write-ahead log and the shared memory of a file that was deleted or moved. Otherwise SQLite would use them for the next
    /// file at this path.
    func removeRest() {
        for suffix in Self.suffixes where own[suffix] != nil && Self.identity(file + suffix) == own[suffix] {
            OwnFile.remove(file + suffix)
        }
    }

    /// Returns the device and the inode of a file; nil if it is missing.
    private static func identity(_ path: String) -> NamespaceIdentity? { try? NamespaceIdentity(path: path) }
}

/// The error of a history that cannot be read or written. The service continues without the history.
package struct HistoryError: Error, Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The disk is full.
        case full
        /// The user of the service lacks a permission for the file or its directory, or the directory is missing.
        case denied
        /// The file is damaged.
        case corrupt
        /// The file belongs to another program, or to a later version of this one.
        case foreign
        /// Another process uses the file.
        case locked
        /// Reading or writing failed for another reason.
        case failed
    }

    package let kind: Kind
    /// The error message, which includes the path.
    package let text: String

    package init(_ kind: Kind, _ file: String, _ cause: String) {
        self.kind = kind
        text = "cannot use the history \(file.printable): \(cause)"
    }

    package init(_ error: any Error, file: String) {
        switch error {
        case let error as HistoryError: self = error
        case let error as SystemError where error == .tryAgain:
            self.init(.locked, file, "another process uses it; give each process its own --history")
        case let error as SystemError: self.init(Kind(error), file, error.description + Kind(error).hint)
        case let error as DatabaseError:
            self.init(Kind(error), file, (error.message ?? error.resultCode.description) + Kind(error).hint)
        default: self.init(.failed, file, "\(type(of: error))")
        }
    }
}

extension HistoryError.Kind {
    fileprivate var hint: String {
        switch self {
        case .full: "; free some space"
        case .denied: "; name another file with --history"
        case .corrupt, .foreign, .locked, .failed: ""
        }
    }

    fileprivate init(_ error: SystemError) {
        switch error {
        case .noSpace: self = .full
        case .accessDenied, .notPermitted, .noEntry, .readOnly: self = .denied
        case .tryAgain: self = .locked
        default: self = .failed
        }
    }

    fileprivate init(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL: self = .full
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .corrupt
        case .SQLITE_BUSY, .SQLITE_LOCKED: self = .locked
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_READONLY, .SQLITE_AUTH: self = .denied
        // SQLite reports a full disk in this way when the shared memory file cannot grow.
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: self = .full
        default: self = .failed
        }
    }
}

// Columns that several tables have.
extension Row {
    package var attribution: Attribution { Attribution(rawValue: self["attribution"]) ?? .unknown }
    package var cause: OutageCause? { (self["cause"] as String?).map { OutageCause(rawValue: $0) } }
}
