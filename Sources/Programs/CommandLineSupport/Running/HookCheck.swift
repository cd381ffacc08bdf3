package import Glibc
import SystemPackage

/// Whether a hook may be run: nobody but root, and the user who runs it, may have a hand in it. Symbolic links count as what
/// they lead to.
///
/// C counterpart: `stat(2)`, `access(2)`.
package struct HookCheck {
    /// The user who runs hooks.
    let user: uid_t

    package init(user: uid_t = geteuid()) {
        self.user = user
    }

    /// Checks a directory of hooks: who may write there can make any file a hook.
    package func checkDirectory(_ path: String) throws(HookRefusal) {
        let status = try status(of: path)
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .noDirectory }
        try checkTrust(status)
    }

    /// Checks a hook.
    package func checkHook(_ path: String) throws(HookRefusal) {
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

/// Why a hook, or a directory of hooks, is not used.
package enum HookRefusal: Error, Hashable, CustomStringConvertible {
    /// The system's words.
    case unreadable(String)
    case noDirectory
    case noRegularFile
    case notExecutable
    case foreignOwner(UInt32)
    case writableByOthers

    /// What is wrong, and what to do, after the name and a colon.
    package var description: String {
        switch self {
        case .unreadable(let cause): cause
        case .noDirectory: "it is no directory"
        case .noRegularFile: "it is no regular file"
        case .notExecutable: "it is not executable: `chmod +x` lets it be run"
        case .foreignOwner(let user):
            "it belongs to user \(user): only what belongs to root, or to the user who runs this, is trusted"
        case .writableByOthers: "its group or others may write to it: `chmod go-w` takes that away"
        }
    }
}
