import CLinux
import Glibc

/// A regular file that can be written at any offset. Only its owner may read it until it is complete.
///
/// C counterpart: `open(2)`, `pwrite(2)`, `ftruncate(2)`, `fsync(2)`.
package struct PartialFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Creates a file with mode 0600, or opens an existing one. A symbolic link is not followed (ELOOP). Any file that
    /// is not regular is an error (EINVAL).
    ///
    /// - Parameter isNew: Whether an existing file is an error (EEXIST).
    package init(_ path: String, isNew: Bool) throws(SystemError) {
        file = try Descriptor(openingRegular: path, O_RDWR | O_CREAT | O_NOFOLLOW | (isNew ? O_EXCL : 0))
    }

    /// Returns the size in bytes.
    package func size() throws(SystemError) -> Int64 {
        Int64(try file.status().st_size)
    }

    /// Writes all of `bytes` at an offset. If it throws an error, some of the bytes may be written.
    package func write(_ bytes: some Collection<UInt8>, at offset: Int64) throws(SystemError) {
        try file.write(Array(bytes), at: offset)
    }

    /// Reads up to `count` bytes from an offset. Returns no bytes at the end of the file.
    package func read(_ count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        try file.read(count, at: offset)
    }

    /// Truncates the file, or extends it with zeros.
    package func setSize(_ size: Int64) throws(SystemError) {
        _ = try SystemError.check { Int(ftruncate(file.number, off_t(size))) }
    }

    /// Waits until all data is on disk.
    package func sync() throws(SystemError) {
        try file.sync()
    }

    /// Sets the default mode of new files: 0666 without the bits of the process's umask.
    package func setUsualMode() throws(SystemError) {
        // umask(2) returns the value only by changing it, which would affect other threads. Linux 4.7 and later show it
        // in this file.
        let line = TextFile.read("/proc/self/status")?.split(at: "\n").first { $0.hasPrefix("Umask:") }
        let mask = line.flatMap { UInt32($0.dropFirst(6).drop { $0 == "\t" || $0 == " " }, radix: 8) } ?? 0o077
        guard fchmod(file.number, mode_t(0o666 & ~mask)) == 0 else { throw .current }
    }

    /// Takes the exclusive lock of the file. The lock ends with this value.
    ///
    /// - Throws: `.tryAgain` if another open file description has the lock.
    package func lock() throws(SystemError) {
        try file.lock()
    }

    /// Releases the lock before the value ends.
    package func unlock() {
        flock(file.number, LOCK_UN)
    }

    /// True if a path still refers to this file.
    package func isNamed(_ path: String) -> Bool {
        var (own, named) = (stat(), stat())
        guard fstat(file.number, &own) == 0, lstat(path, &named) == 0 else { return false }
        return own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }
}

/// A file with an exclusive lock, which ends with this value or with the process. The file is not removed.
///
/// C counterpart: `flock(2)`.
package struct LockFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Locks a file. A missing file is created with mode 0600.
    ///
    /// - Throws: `.tryAgain` if another process has the lock.
    package init(_ path: String) throws(SystemError) {
        let file = try Descriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY)
        try file.lock()
        self.file = file
    }

    deinit {
        // A child process that has not executed its program yet has a copy of the descriptor, so closing the descriptor
        // would not release the lock.
        flock(file.number, LOCK_UN)
    }
}

/// Functions for directories of this program.
///
/// C counterpart: `mkdir(2)`.
package enum OwnDirectory {
    /// Creates a directory and its missing parents.
    package static func make(_ path: String, mode: UInt32) throws(SystemError) {
        var made = ""
        for part in path.split(at: "/") {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            guard mkdir(made, mode_t(mode)) != 0 else { continue }
            // An existing directory above may not permit new files.
            guard [EEXIST, EROFS, EACCES].contains(errno) else { throw .current }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(rawValue: ENOTDIR) }
    }
}

/// Functions for files of this program.
///
/// C counterpart: `unlink(2)`, `chmod(2)`, `stat(2)`.
package enum OwnFile {
    /// Removes a file if it exists.
    package static func remove(_ path: String) {
        unlink(path)
    }

    /// Sets the permissions of a file.
    package static func setMode(_ path: String, _ mode: UInt32) throws(SystemError) {
        guard chmod(path, mode_t(mode)) == 0 else { throw .current }
    }

    /// Returns the permissions of a file.
    package static func mode(_ path: String) throws(SystemError) -> UInt32 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        return UInt32(status.st_mode) & 0o7777
    }

    /// Renames a file, and replaces an existing one.
    package static func rename(_ path: String, to name: String) throws(SystemError) {
        guard Glibc.rename(path, name) == 0 else { throw .current }
    }

    /// Creates an empty file with mode 0600 if none exists.
    package static func make(_ path: String) throws(SystemError) {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode_t(0o600))
        guard number >= 0 else { throw .current }
        close(number)
    }
}
