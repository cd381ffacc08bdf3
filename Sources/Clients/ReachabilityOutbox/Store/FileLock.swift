import Glibc

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

    private let descriptor: CInt

    private init(owning descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Takes the lock; nil when somebody else has it and it is not waited for, which blocks the thread.
    ///
    /// - Throws: the error number of the system.
    static func take(_ path: String, for purpose: Purpose, waits: Bool) throws(Errno) -> FileLock? {
        let lock = try opened(path)
        return try lock.acquire(purpose, waits: waits) ? consume lock : nil
    }

    /// Opens the file, and takes no lock yet. Whoever tries more than once keeps it open: closing it rings (``FileBell``).
    ///
    /// - Throws: the error number of the system.
    static func opened(_ path: String) throws(Errno) -> FileLock {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Errno.current }
        return FileLock(owning: descriptor)
    }

    /// Says whether it has the lock now; waiting for it blocks the thread.
    ///
    /// - Throws: the error number of the system.
    func acquire(_ purpose: Purpose, waits: Bool) throws(Errno) -> Bool {
        while true {
            var range = Self.range(of: F_WRLCK, purpose.rawValue, 1)
            if unsafe fcntl(descriptor, waits ? Self.setAndWait : Self.set, &range) == 0 { return true }
            let error = Errno.current
            if error.number == EINTR { continue }
            if [EAGAIN, EACCES].contains(error.number) { return false }
            throw error
        }
    }

    /// Waits, which blocks the thread, until nobody has the lock, and keeps others from taking it. Changes nothing: nil where
    /// there is no file for the lock, or none that this user may read.
    ///
    /// - Throws: the error number of the system.
    static func share(_ path: String, for purpose: Purpose) throws(Errno) -> FileLock? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let lock = FileLock(owning: descriptor)
        var range = range(of: F_RDLCK, purpose.rawValue, 1)
        while unsafe fcntl(descriptor, setAndWait, &range) != 0 {
            guard errno == EINTR else { throw .current }
        }
        return lock
    }

    deinit {
        // Closing is not enough: a process that was just forked has the opening too, until it becomes another program.
        var range = Self.range(of: F_UNLCK, 0, 0)
        _ = unsafe fcntl(descriptor, Self.set, &range)
        close(descriptor)
    }

    /// So many bytes from `start`; none stands for all.
    private static func range(of type: CInt, _ start: Int, _ count: Int) -> Glibc.flock {
        Glibc.flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: start, l_len: count, l_pid: 0)
    }
}
