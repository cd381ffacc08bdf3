import CNetlink
import Glibc

/// Watches single files by their directories, so that a file may be replaced, linked elsewhere, deleted and made again.
///
/// C counterpart: `inotify(7)`.
package final class FileWatch: @unchecked Sendable {
    private let inotify: Descriptor
    private let paths: [String]
    /// The watched directories, by watch descriptor, each with the names that matter in it.
    private var names: [CInt: Set<String>] = [:]

    /// - Parameter paths: absolute paths; symbolic links are watched at both ends.
    package init(paths: [String]) throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw .current }
        inotify = Descriptor(owning: number)
        self.paths = paths
        watch()
    }

    package var descriptor: CInt { inotify.number }

    /// Reads what is there, without waiting, and says whether one of the files changed.
    package func drain() -> Bool {
        var changed = false
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(inotify.number, &bytes, bytes.count)
            guard count > 0 else { break }
            bytes.withUnsafeBytes { buffer in
                var rest = buffer.bytes(from: 0, length: count)
                // `inotify_event`: descriptor, mask, cookie and length of the name that follows.
                while let watch = rest.load(Int32.self, at: 0), let mask = rest.load(UInt32.self, at: 4),
                    let length = rest.load(UInt32.self, at: 12)
                {
                    let name = rest.bytes(from: 16, length: Int(length)).text
                    let isOverflow = mask & UInt32(IN_Q_OVERFLOW) != 0
                    if isOverflow || names[watch]?.contains(name) == true { changed = true }
                    rest = rest.bytes(from: 16 + Int(length))
                }
            }
        }
        // A link may point elsewhere now.
        if changed { watch() }
        return changed
    }

    private func watch() {
        for path in paths {
            add(path)
            guard let target = realpath(path, nil) else { continue }
            add(String(cString: target))
            free(target)
        }
    }

    private func add(_ path: String) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        let mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE
        let watch = inotify_add_watch(inotify.number, directory, UInt32(mask))
        guard watch >= 0 else { return }
        names[watch, default: []].insert(String(path[path.index(after: slash)...]))
    }
}
