import CLinux
import Glibc

/// Watches single files by their directories, so that a file may be replaced, linked elsewhere, deleted and made again.
///
/// For one thread at a time. C counterpart: `inotify(7)`.
package final class FileWatch: @unchecked Sendable {
    private let inotify: Descriptor
    private var paths: Set<String> = []
    /// The watched directories, by watch descriptor: the names that matter in each, and the paths they matter to.
    private var names: [CInt: [String: Set<String>]] = [:]

    /// - Parameter paths: absolute paths; symbolic links are watched at both ends.
    package init(paths: [String]) throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw .current }
        inotify = Descriptor(owning: number)
        for path in paths { insert(path) }
    }

    package var descriptor: CInt { inotify.number }

    /// Watches one more file; or again, when its directory was away for a while.
    package func insert(_ path: String) {
        paths.insert(path)
        watch(path)
    }

    /// Watches a file no more.
    package func remove(_ path: String) {
        paths.remove(path)
        for (watch, owners) in names {
            let others = owners.mapValues { $0.subtracting([path]) }.filter { !$0.value.isEmpty }
            names[watch] = others.isEmpty ? nil : others
            if others.isEmpty { inotify_rm_watch(inotify.number, watch) }
        }
    }

    /// Reads what is there, without waiting, and says whether one of the files changed.
    package func drain() -> Bool { !changes().isEmpty }

    /// Reads what is there, without waiting, and says which of the files changed.
    package func changes() -> Set<String> {
        var changed: Set<String> = []
        for event in InotifyEvent.read(from: inotify) {
            if event.isOverflow {
                changed = paths
            } else if event.isLastOfWatch {
                for owners in names.removeValue(forKey: event.watch)?.values ?? [:].values { changed.formUnion(owners) }
            } else if let owners = names[event.watch]?[event.name] {
                changed.formUnion(owners)
            }
        }
        // A link may point elsewhere now.
        for path in changed { watch(path) }
        return changed
    }

    private func watch(_ path: String) {
        add(path, for: path)
        guard let target = realpath(path, nil) else { return }
        add(String(cString: target), for: path)
        free(target)
    }

    private func add(_ path: String, for owner: String) {
        guard let slash = path.lastIndex(of: "/") else { return }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        let mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE
        let watch = inotify_add_watch(inotify.number, directory, UInt32(mask))
        guard watch >= 0 else { return }
        names[watch, default: [:]][String(path[path.index(after: slash)...]), default: []].insert(owner)
    }
}
