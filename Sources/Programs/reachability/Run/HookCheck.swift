import Glibc
import SystemPackage

/// Whether a hook may be run: nobody but root, and the user who runs it, may have a hand in it. Symbolic links count as what
/// they lead to.
///
/// C counterpart: `stat(2)`, `access(2)`.
struct HookCheck {
    /// The user who runs hooks.
    let user: uid_t

    init(user: uid_t = geteuid()) {
        self.user = user
    }

    /// Checks a directory of hooks: who may write there can make any file a hook.
    func checkDirectory(_ path: String) throws(HookRefusal) {
        let status = try status(of: path)
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .noDirectory }
        try checkTrust(status)
    }

    /// Checks a hook.
    func checkHook(_ path: String) throws(HookRefusal) {
        let status = try status(of: path)
        guard status.st_mode & S_IFMT == S_IFREG else { throw .noRegularFile }
        try checkTrust(status)
        guard unsafe access(path, X_OK) == 0 else { throw .notExecutable }
    }

    private func checkTrust(_ status: stat) throws(HookRefusal) {
        guard [0, user].contains(status.st_uid) else { throw .foreignOwner(status.st_uid) }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .writableByOthers }
    }

    private func status(of path: String) throws(HookRefusal) -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw .unreadable(Errno(rawValue: errno).description) }
        return status
    }
}
