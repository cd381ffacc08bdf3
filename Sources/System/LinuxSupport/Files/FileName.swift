import CLinux
import Glibc

/// What becomes of a file's name when the file is done.
///
/// C counterpart: `renameat2(2)`, `fsync(2)` of a directory.
package enum FileName {
    /// Gives a file another name; what has that name already is an error (EEXIST), unless it is to be replaced.
    package static func move(_ path: String, to name: String, replacing: Bool) throws(SystemError) {
        if replacing { return try OwnFile.rename(path, to: name) }
        if clinux_rename_new(path, name) == 0 { return }
        // File systems that do not know the flag know links.
        guard SystemError.current == .invalidArgument else { throw .current }
        guard link(path, name) == 0 else { throw .current }
        unlink(path)
    }

    /// Whether there is anything of this name; a link that leads nowhere counts.
    package static func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// How many bytes a file has; nil where it is not there or not regular.
    package static func size(of path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Waits until the names in the directory of a file are on the disk.
    package static func syncDirectory(of path: String) throws(SystemError) {
        let slash = path.unicodeScalars.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let opened = try Descriptor.open(directory)
        if fsync(opened.number) != 0, SystemError.current != .invalidArgument { throw .current }
    }
}
