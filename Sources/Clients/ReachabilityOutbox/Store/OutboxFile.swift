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
            throw Errno.current
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
            if isUnreadable { throw unsafe access(file, R_OK) == 0 ? error : Errno.current }
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
        var name = ""
        for byte in databasePath(file).utf8 {
            switch byte {
            case UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#"):
                name += "%" + String(byte, radix: 16)
            case 0x21...0x7e: name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "%" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
            }
        }
        // An absolute path may begin with two slashes, which must not be taken for a host.
        let scheme = name.hasPrefix("/") ? "file://" : "file:"
        return try DatabaseQueue(path: "\(scheme)\(name)?mode=ro&\(reading.rawValue)", configuration: configuration)
    }
}
