import Glibc

/// A file whose lock one process has at a time; it is let go of with this value, or with the process. The file stays.
///
/// C counterpart: `flock(2)`.
package struct LockFile: ~Copyable, Sendable {
    private let file: Descriptor

    /// Takes the lock of a file, which is made where there is none, with mode 0600.
    ///
    /// - Throws: `.tryAgain` where another process has it.
    package init(_ path: String) throws(SystemError) {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, mode_t(0o600))
        guard number >= 0 else { throw .current }
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            let error = SystemError.current
            if error == .interrupted { continue }
            close(number)
            throw error
        }
        file = Descriptor(owning: number)
    }

    deinit {
        // A child that is about to run another program has a copy of the descriptor still: closing ours would not let go of the lock.
        flock(file.number, LOCK_UN)
    }
}

/// Directories of a program's own.
///
/// C counterpart: `mkdir(2)`.
package enum OwnDirectory {
    /// Makes a directory and those above it, where they are not there.
    package static func make(_ path: String, mode: UInt32) throws(SystemError) {
        var made = ""
        for part in path.split(at: "/") {
            made += (made.isEmpty && !path.hasPrefix("/") ? "" : "/") + part
            guard mkdir(made, mode_t(mode)) != 0 else { continue }
            // A directory above that is there may be one in which nothing can be made.
            guard [EEXIST, EROFS, EACCES].contains(errno) else { throw .current }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(rawValue: ENOTDIR) }
    }
}

/// Files of a program's own.
///
/// C counterpart: `unlink(2)`, `chmod(2)`, `stat(2)`.
package enum OwnFile {
    /// Removes a file, if it is there.
    package static func remove(_ path: String) {
        unlink(path)
    }

    /// Says who may use a file.
    package static func setMode(_ path: String, _ mode: UInt32) throws(SystemError) {
        guard chmod(path, mode_t(mode)) == 0 else { throw .current }
    }

    /// Who may use a file.
    package static func mode(_ path: String) throws(SystemError) -> UInt32 {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        return UInt32(status.st_mode) & 0o7777
    }

    /// Gives a file another name.
    package static func rename(_ path: String, to name: String) throws(SystemError) {
        guard Glibc.rename(path, name) == 0 else { throw .current }
    }

    /// Makes an empty file of mode 0600, where there is none.
    package static func make(_ path: String) throws(SystemError) {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode_t(0o600))
        guard number >= 0 else { throw .current }
        close(number)
    }
}
