import Dispatch
import GRDB
import Glibc
import LinuxSupport

/// A file's name, and whether an outbox lies under it, found out without changing anything.
///
/// The file is read by SQLite and not by us: closing a descriptor of ours would take away the locks that another outbox of this
/// process has on the same file (`fcntl(2)`).
enum OutboxFile {
    /// How a file is read that must not change.
    enum Reading: String {
        /// No lock, no log, no index of the log: for a file that nobody has open.
        case alone = "immutable=1"
        /// With its log, which others may be writing; its index is not made.
        case shared = "readonly_shm=1"
    }

    /// The name without a symbolic link at its end: each name of an outbox has the same lock beside it.
    ///
    /// C counterpart: `realpath(3)`.
    static func resolved(_ name: String) -> String {
        var status = stat()
        guard unsafe lstat(name, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return name }
        guard let path = unsafe realpath(name, nil) else { return name }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The name as SQLite must get it, to which some relative names are no names of files (`:memory:`, `file:x`).
    static func databasePath(_ file: String) -> String { file.hasPrefix("/") ? file : "./" + file }

    static func exists(_ file: String) -> Bool { unsafe access(file, F_OK) == 0 }

    /// Says whether there is an outbox; a damaged one counts, as long as its header says that it was one.
    ///
    /// - Throws: ``OutboxError/foreignFile(_:)`` for anything else that lies there; an error of the system or of SQLite.
    static func isOutbox(_ file: String) throws -> Bool {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else {
            if errno == ENOENT, unsafe lstat(file, &status) != 0 { return false }
            throw SystemError.current
        }
        // A queue or a device must not even be opened.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { throw OutboxError.foreignFile(file) }
        switch try maker(of: file, .alone) {
        case .outbox: return true
        // Earlier versions wrote the mark into the log first.
        case .nobody where exists(file + "-wal"):
            if case .outbox = try maker(of: file, .shared) { return true }
        case .nobody, .another: break
        }
        throw OutboxError.foreignFile(file)
    }

    private enum Maker {
        case outbox
        /// There is nothing in it yet.
        case nobody
        case another
    }

    private static func maker(of file: String, _ reading: Reading) throws -> Maker {
        let maker = Locked(Maker.another)
        do {
            _ = try open(file, reading) { db in
                // The header is believed where the file is shorter than it says.
                try db.execute(sql: "PRAGMA writable_schema = ON")
                let identifier = try Int32.fetchOne(db, sql: "PRAGMA application_id")
                if identifier == OutboxSchema.applicationID { return maker.withLock { $0 = .outbox } }
                let tables = try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema")
                if identifier == 0, tables == 0 { maker.withLock { $0 = .nobody } }
            }
        } catch let error as DatabaseError {
            // What can be opened and is nothing that SQLite can read is another's; so is a log without its index.
            let isUnreadable = reading == .alone && ![.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode)
            if isUnreadable { throw unsafe access(file, R_OK) == 0 ? error : SystemError.current }
        }
        return maker.withLock { $0 }
    }

    /// Opens a file so that it is not changed, and nothing is made beside it.
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
        // An absolute path may begin with two slashes, which must not be taken for a host.
        let scheme = name.hasPrefix("/") ? "file://" : "file:"
        return try DatabaseQueue(path: "\(scheme)\(name)?mode=ro&\(reading.rawValue)", configuration: configuration)
    }
}

extension OutboxFile {
    /// Makes an outbox under another name, and gives it its own when it is whole: what lies under the name of an outbox is one,
    /// whenever its making is cut short. To be called with the lock for opening.
    static func make(_ file: String) throws {
        let draft = "\(file).new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let descriptor = unsafe Glibc.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError.current }
        defer { _ = unsafe unlink(draft) }
        let isPrivate = fchmod(descriptor, 0o600) == 0
        close(descriptor)
        guard isPrivate else { throw SystemError.current }
        // Without a log of its own, so that all of it is in the one file.
        let database = try DatabaseQueue(path: databasePath(draft))
        try OutboxSchema.migrator.migrate(database)
        try database.close()
        // Unlike rename(2), it replaces nothing. Some file systems have no second names.
        if unsafe link(draft, file) != 0 {
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), !exists(file) else { throw SystemError.current }
            guard unsafe rename(draft, file) == 0 else { throw SystemError.current }
        }
        // A new name is on the disk when its directory is. Not every file system can do that.
        try? FileName.syncDirectory(of: file)
    }

    /// Takes an outbox from the group and from others; what SQLite keeps beside it gets the same mode.
    static func makePrivate(_ file: String) throws(SystemError) {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .current }
        guard status.st_mode & 0o777 != 0o600, status.st_uid == geteuid() else { return }
        guard unsafe chmod(file, 0o600) == 0 else { throw .current }
    }
}

/// A lock on one byte of a file beside the database, which the kernel takes away when the process ends, however it ends.
///
/// It belongs to the opening of the file: two outboxes of one process exclude each other too, and a program that is started
/// does not inherit it.
///
/// C counterpart: `fcntl(2)`, F_OFD_SETLK.
struct FileLock: ~Copyable, Sendable {
    /// What a byte stands for.
    enum Purpose: Int, Sendable {
        /// Whoever has it may send.
        case sending
        /// Whoever has it may make the database, change its form or set it aside.
        case opening
    }

    /// F_OFD_SETLK and F_OFD_SETLKW of linux/fcntl.h, which Glibc shows only with _GNU_SOURCE.
    private static let (set, setAndWait) = (CInt(37), CInt(38))

    private let file: Descriptor

    /// Takes the lock; nil when somebody else has it and it is not waited for, which blocks the thread.
    ///
    /// - Throws: the error number of the system.
    static func take(_ path: String, for purpose: Purpose, waits: Bool) throws(SystemError) -> FileLock? {
        let lock = try opened(path)
        return try lock.acquire(purpose, waits: waits) ? consume lock : nil
    }

    /// Opens the file, and takes no lock yet. Whoever tries more than once keeps it open: closing it rings (``FileBell``).
    ///
    /// - Throws: the error number of the system.
    static func opened(_ path: String) throws(SystemError) -> FileLock {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError.current }
        return FileLock(file: Descriptor(owning: descriptor))
    }

    /// Says whether it has the lock now; waiting for it blocks the thread.
    ///
    /// - Throws: the error number of the system.
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

    /// Waits, which blocks the thread, until nobody has the lock, and keeps others from taking it. Changes nothing: nil where
    /// there is no file for the lock, or none that this user may read.
    ///
    /// - Throws: the error number of the system.
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
        // Closing is not enough: a process that was just forked has the opening too, until it becomes another program.
        var range = Self.range(of: F_UNLCK, 0, 0)
        _ = unsafe fcntl(file.number, Self.set, &range)
    }

    /// So many bytes from `start`; none stands for all.
    private static func range(of type: CInt, _ start: Int, _ count: Int) -> Glibc.flock {
        Glibc.flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: start, l_len: count, l_pid: 0)
    }
}

/// What is done with a file that is damaged: it gets another name, and is never deleted.
enum CorruptFile {
    private static let mark = ".corrupt-"

    /// Gives the file, and what SQLite keeps beside it, a name that says when, and returns that name.
    ///
    /// C counterpart: `rename(2)`.
    static func setAside(_ file: String, at time: Duration) throws(SystemError) -> String {
        var name = "\(file)\(mark)\(time.milliseconds)"
        while unsafe access(name, F_OK) == 0 { name += "-" }
        // The file first: without it the others are not looked at, and with it alone nothing but the newest is lost to repair.
        guard unsafe rename(file, name) == 0 else { throw .current }
        for suffix in ["-wal", "-shm"] { _ = unsafe rename(file + suffix, name + suffix) }
        return name
    }

    /// The newest file that was set aside, where nothing has been begun since.
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

/// Wakes whoever sends, or waits to, in all processes: the lock's file was opened for writing and is closed, which the kernel tells.
/// So it rings when something was put in, and when the process that sends has ended, however it did.
///
/// C counterpart: `inotify(7)`, IN_CLOSE_WRITE.
struct FileBell: Sendable {
    let rings: AsyncStream<Void>
    private let watch: Cancellation

    /// - Parameter path: The lock's file, which exists; nil where the kernel has no watch to spare.
    init?(_ path: String) {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        let (rings, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let queue = DispatchQueue(label: "ReachabilityOutbox.bell")
        let watch = SharedFileWatch.shared.add(unsafe String(cString: resolved), on: queue) { continuation.yield() }
        guard let watch else { return nil }
        (self.rings, self.watch) = (rings, watch)
    }

    /// Listens no more.
    func cancel() { watch.cancel() }

    /// Rings. It does no harm where it cannot: then there is no sender who may read the file either.
    static func ring(_ path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor >= 0 { close(descriptor) }
    }
}
