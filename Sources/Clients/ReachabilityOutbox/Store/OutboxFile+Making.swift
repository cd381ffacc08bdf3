import GRDB
import Glibc

extension OutboxFile {
    /// Makes an outbox under another name, and gives it its own when it is whole: what lies under the name of an outbox is one,
    /// whenever its making is cut short. To be called with the lock for opening.
    static func make(_ file: String) throws {
        let draft = "\(file).new-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        let descriptor = unsafe Glibc.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Errno.current }
        defer { _ = unsafe unlink(draft) }
        let isPrivate = fchmod(descriptor, 0o600) == 0
        close(descriptor)
        guard isPrivate else { throw Errno.current }
        // Without a log of its own, so that all of it is in the one file.
        let database = try DatabaseQueue(path: databasePath(draft))
        try OutboxSchema.migrator.migrate(database)
        try database.close()
        // Unlike rename(2), it replaces nothing. Some file systems have no second names.
        if unsafe link(draft, file) != 0 {
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno), !exists(file) else { throw Errno.current }
            guard unsafe rename(draft, file) == 0 else { throw Errno.current }
        }
        syncDirectory(of: file)
    }

    /// Takes an outbox from the group and from others; what SQLite keeps beside it gets the same mode.
    static func makePrivate(_ file: String) throws(Errno) {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .current }
        guard status.st_mode & 0o777 != 0o600, status.st_uid == geteuid() else { return }
        guard unsafe chmod(file, 0o600) == 0 else { throw .current }
    }

    /// A new name is on the disk when its directory is; not every file system can do that.
    private static func syncDirectory(of file: String) {
        let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
        let descriptor = unsafe Glibc.open(slash.map { String(file[...$0]) } ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
