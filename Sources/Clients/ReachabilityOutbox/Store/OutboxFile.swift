import Dispatch
import GRDB
import Glibc
import LinuxSupport

/// The name of an outbox file, and a check whether the file is an outbox. The check changes nothing.
///
/// SQLite reads the file, not this code. Closing another descriptor of the same file would release the locks that
/// another outbox of this process holds on it (`fcntl(2)`).
enum OutboxFile {
    /// The way in which a file is read without changing it.
    enum Reading: String {
        /// The file is read without a lock, a write-ahead log or an index of the log. Use it for a file that no process has open.
        case alone = "immutable=1"
        /// The file is read with the write-ahead log, to which other processes may write. The index of the log is not created.
        case shared = "readonly_shm=1"
    }

    /// Resolves a symbolic link at the end of the name, so that every name of an outbox uses the same lock file.
    ///
    /// C counterpart: `realpath(3)`.
    static func resolved(_ name: String) -> String {
        var status = stat()
        guard unsafe lstat(name, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return name }
        guard let path = unsafe realpath(name, nil) else { return name }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// Returns the name for SQLite, which does not treat some relative names as names of files (`:memory:`, `file:x`).
    static func databasePath(_ file: String) -> String { file.hasPrefix("/") ? file : "./" + file }

    static func exists(_ file: String) -> Bool { unsafe access(file, F_OK) == 0 }

    /// Returns whether the file exists and is an outbox. A damaged file counts as long as its header identifies it.
    ///
    /// - Throws: ``OutboxError/foreignFile(_:)`` for any other file; an error of the system or of SQLite.
    static func isOutbox(_ file: String) throws -> Bool {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else {
            if errno == ENOENT, unsafe lstat(file, &status) != 0 { return false }
            throw SystemError.current
        }
        // Opening a named pipe or a device could block or have an effect.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { throw OutboxError.foreignFile(file) }
        switch try creator(of: file, .alone) {
        case .outbox: return true
        // Earlier versions wrote the application id into the log first.
        case .empty where exists(file + "-wal"):
            if case .outbox = try creator(of: file, .shared) { return true }
        case .empty, .another: break
        }
        throw OutboxError.foreignFile(file)
    }

    private enum Creator {
        case outbox
        /// An empty database.
        case empty
        case another
    }

    private static func creator(of file: String, _ reading: Reading) throws -> Creator {
        let creator = Locked(Creator.another)
        do {
            _ = try open(file, reading) { db in
                // Accepts the header also if the file is shorter than the header states.
                try db.execute(sql: "PRAGMA writable_schema = ON")
                let identifier = try Int32.fetchOne(db, sql: "PRAGMA application_id")
                if identifier == OutboxSchema.applicationID { return creator.withLock { $0 = .outbox } }
                let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
                if identifier == 0, tables == 0 { creator.withLock { $0 = .empty } }
            }
        } catch let error as DatabaseError {
            // A file that SQLite cannot read is a foreign file, and so is a log without its index.
            let isUnreadable = reading == .alone && ![.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode)
            if isUnreadable { throw unsafe access(file, R_OK) == 0 ? error : SystemError.current }
        }
        return creator.withLock { $0 }
    }

    /// Opens a file read-only. Creates no other file.
    static func open(
        _ file: String,
        _ reading: Reading,
        _ prepare: @escaping @Sendable (Database) throws -> Void
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "ReachabilityOutbox.reading"
        configuration.readonly = true
        configuration.busyMode = .timeout(30)
        configuration.prepareDatabase(prepare)
        let name = databasePath(file).percentEncoded { "!"..."~" ~= $0 && !["%", "?", "#"].contains($0) }
        // An absolute path may start with two slashes. The second part must not be read as a host.
        let scheme = name.hasPrefix("/") ? "file://" : "file:"
        return try DatabaseQueue(path: "\(scheme)\(name)?mode=ro&\(reading.rawValue)", configuration: configuration)
    }
}

extension OutboxFile {
    /// Creates an outbox under a temporary name, and renames it when it is complete. A file under the final name is
    /// therefore always complete, even if the process is killed. The caller must hold the lock for opening.
    static func make(_ file: String) throws {
        let draft = "\(file).new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let descriptor = unsafe Glibc.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError.current }
        defer { _ = unsafe unlink(draft) }
        let isPrivate = fchmod(descriptor, 0o600) == 0
        close(descriptor)
        guard isPrivate else { throw SystemError.current }
        // Without a write-ahead log, so that the database is one file.
        let database = try DatabaseQueue(path: databasePath(draft))
        try OutboxSchema.migrator.migrate(database)
        try database.close()
        // Unlike rename(2), link(2) replaces nothing. Some file systems do not support links.
        if unsafe link(draft, file) != 0 {
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), !exists(file) else { throw SystemError.current }
            guard unsafe rename(draft, file) == 0 else { throw SystemError.current }
        }
        // The new name is durable when its directory is. Not every file system supports that.
        try? FileName.syncDirectory(of: file)
    }

    /// Sets the mode of an outbox to 0600. The files that SQLite creates beside it get the same mode.
    static func makePrivate(_ file: String) throws(SystemError) {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .current }
        guard status.st_mode & 0o777 != 0o600, status.st_uid == geteuid() else { return }
        guard unsafe chmod(file, 0o600) == 0 else { throw .current }
    }
}

/// A lock on one byte of a file beside the database. The kernel releases it when the process ends, however it ends.
///
/// The lock belongs to the open file description. Two outboxes of one process exclude each other, and a program that is
/// started does not inherit the lock.
///
/// C counterpart: `fcntl(2)`, F_OFD_SETLK.
struct FileLock: ~Copyable, Sendable {
    /// The purpose of a byte.
    enum Purpose: Int, Sendable {
        /// The holder may send.
        case sending
        /// The holder may create the database, change its schema or rename it.
        case opening
    }

    /// F_OFD_SETLK and F_OFD_SETLKW of linux/fcntl.h. Glibc defines them only with _GNU_SOURCE.
    private static let (set, setAndWait) = (CInt(37), CInt(38))

    private let file: Descriptor

    /// Takes the lock. If `waits` is true, blocks the thread until the lock is free. If false, returns nil if another
    /// process holds the lock.
    ///
    /// - Throws: The error number of the system.
    static func take(_ path: String, for purpose: Purpose, waits: Bool) throws(SystemError) -> FileLock? {
        let lock = try opened(path)
        return try lock.acquire(purpose, waits: waits) ? consume lock : nil
    }

    /// Opens the lock file without taking the lock. To try repeatedly, keep the file open, because closing it notifies
    /// the other processes (``FileChangeSignal``).
    ///
    /// - Throws: The error number of the system.
    static func opened(_ path: String) throws(SystemError) -> FileLock {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError.current }
        return FileLock(file: Descriptor(owning: descriptor))
    }

    /// Tries to take the lock. Returns whether it is held now. If `waits` is true, blocks the thread until the lock is
    /// free.
    ///
    /// - Throws: The error number of the system.
    func acquire(_ purpose: Purpose, waits: Bool) throws(SystemError) -> Bool {
        while true {
            var range = Self.range(of: F_WRLCK, purpose.rawValue, 1)
            if unsafe fcntl(file.number, waits ? Self.setAndWait : Self.set, &range) == 0 { return true }
            let error = SystemError.current
            if error == .interrupted { continue }
            if error == .tryAgain || error == .accessDenied { return false }
            throw error
        }
    }

    /// Takes a shared lock, which prevents others from taking an exclusive one. Blocks the thread until the exclusive
    /// lock is free. Creates no file. Returns nil if the lock file does not exist or this user cannot read it.
    ///
    /// - Throws: The error number of the system.
    static func share(_ path: String, for purpose: Purpose) throws(SystemError) -> FileLock? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let lock = FileLock(file: Descriptor(owning: descriptor))
        var range = range(of: F_RDLCK, purpose.rawValue, 1)
        while unsafe fcntl(descriptor, setAndWait, &range) != 0 {
            guard errno == EINTR else { throw .current }
        }
        return lock
    }

    deinit {
        // Closing is not enough. A process that was just forked shares the open file description until it calls
        // execve(2).
        var range = Self.range(of: F_UNLCK, 0, 0)
        _ = unsafe fcntl(file.number, Self.set, &range)
    }

    /// Returns a range of `count` bytes from `start`. A count of zero means all bytes.
    private static func range(of type: CInt, _ start: Int, _ count: Int) -> Glibc.flock {
        Glibc.flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: start, l_len: count, l_pid: 0)
    }
}

/// Renames damaged files. They are never deleted.
enum CorruptFile {
    private static let mark = ".corrupt-"

    /// Renames the database and the files that SQLite keeps beside it to a name with the time. Returns the new name of
    /// the database.
    ///
    /// C counterpart: `rename(2)`.
    static func setAside(_ file: String, at time: Duration) throws(SystemError) -> String {
        var name = "\(file)\(mark)\(time.milliseconds)"
        while unsafe access(name, F_OK) == 0 { name += "-" }
        // The database first: SQLite ignores the other files without it. The database alone lacks only the newest
        // changes.
        guard unsafe rename(file, name) == 0 else { throw .current }
        for suffix in ["-wal", "-shm"] { _ = unsafe rename(file + suffix, name + suffix) }
        return name
    }

    /// Returns the newest renamed file, if the database has not been created again since.
    static func left(beside file: String) -> String? {
        guard unsafe access(file, F_OK) != 0 else { return nil }
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { String(file[...$0]) } ?? ""
        let prefix = (slash.map { String(file[file.utf8.index(after: $0)...]) } ?? file) + mark
        let names = (try? DirectoryListing.names(in: directory.isEmpty ? "." : directory)) ?? []
        return names.last { $0.hasPrefix(prefix) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            .map { directory + $0 }
    }
}

/// A notification for senders in all processes. It is sent when a process closes the lock file after opening it for
/// writing: after a request was added, and when a sending process ends, however it ends.
///
/// C counterpart: `inotify(7)`, IN_CLOSE_WRITE.
struct FileChangeSignal: Sendable {
    let signals: AsyncStream<Void>
    private let watch: Cancellation

    /// Starts watching. Returns nil if no inotify watch is available.
    ///
    /// - Parameter path: The lock file, which must exist.
    init?(_ path: String) {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let queue = DispatchQueue(label: "ReachabilityOutbox.signal")
        let watch = SharedFileWatch.shared.add(unsafe String(cString: resolved), on: queue) { continuation.yield() }
        guard let watch else { return nil }
        (self.signals, self.watch) = (signals, watch)
    }

    /// Stops watching.
    func cancel() { watch.cancel() }

    /// Sends the notification. An error is ignored, because a sender cannot read the file then either.
    static func send(_ path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
    }
}
