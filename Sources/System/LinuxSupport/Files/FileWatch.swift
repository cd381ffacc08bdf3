import CLinux
import Glibc

/// Watches single files along the whole way to them, so that a file or a directory may be replaced, linked elsewhere, deleted and made
/// again. A link may dangle at first.
///
/// For one thread at a time. C counterpart: `inotify(7)`.
package final class FileWatch: @unchecked Sendable {
    private let inotify: Descriptor
    private let watchesContents: Bool
    /// What is watched for each path.
    private var places: [String: Set<WatchedPlace>] = [:]
    /// The paths that a watch descriptor matters to, by the name that matters; of a file or directory itself, the name is empty.
    private var owners: [CInt: [String: Set<String>]] = [:]

    /// - Parameters:
    ///   - paths: Absolute paths.
    ///   - watchesContents: Whether the file itself is watched too. Someone may write to it by another name, which its directory does not
    ///     report: a bind mount, or a hard link. The watch keeps the file in memory, which for a namespace means that it stays alive.
    package init(paths: [String], watchesContents: Bool = false) throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw .current }
        inotify = Descriptor(owning: number)
        self.watchesContents = watchesContents
        for path in paths { insert(path) }
    }

    package var descriptor: CInt { inotify.number }

    /// Watches one more file.
    package func insert(_ path: String) {
        watch(path)
    }

    /// Watches a file no more.
    package func remove(_ path: String) {
        release(places.removeValue(forKey: path) ?? [], of: path)
    }

    /// Reads what is there, without waiting, and says whether one of the files changed.
    package func drain() -> Bool { !changes().isEmpty }

    /// Reads what is there, without waiting, and says which of the files changed.
    package func changes() -> Set<String> {
        var changed: Set<String> = []
        for event in InotifyEvent.read(from: inotify) {
            if event.isOverflow {
                changed = Set(places.keys)
            } else if event.isLastOfWatch {
                for paths in owners.removeValue(forKey: event.watch)?.values ?? [:].values { changed.formUnion(paths) }
            } else if let paths = owners[event.watch]?[event.name] {
                changed.formUnion(paths)
            }
        }
        // The way may be another one now.
        for path in changed where places[path] != nil { watch(path) }
        return changed
    }

    /// Watches what there is on the way to a file now.
    private func watch(_ path: String) {
        let before = places[path] ?? []
        var after: Set<WatchedPlace> = []
        // What is made between the look and the watch is not reported.
        for _ in 0..<4 {
            let steps = FileWay.steps(to: path)
            after = Set(steps.flatMap { add($0, for: path) })
            if FileWay.steps(to: path) == steps { break }
        }
        places[path] = after
        release(before.subtracting(after), of: path)
    }

    private func add(_ step: FileWay.Step, for path: String) -> [WatchedPlace] {
        let own = IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD
        let place: WatchedPlace?
        switch step {
        case .directory(let directory):
            place = add(directory, own | IN_ONLYDIR).map { WatchedPlace(watch: $0, name: "") }
        case .entry(let directory, let name):
            let mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR
            guard let watch = add(directory, own | mask) else { return [] }
            let places = [WatchedPlace(watch: watch, name: name), WatchedPlace(watch: watch, name: "")]
            for place in places { owners[watch, default: [:]][place.name, default: []].insert(path) }
            return places
        case .file(let file):
            guard watchesContents else { return [] }
            place = add(file, own | IN_CLOSE_WRITE).map { WatchedPlace(watch: $0, name: "") }
        }
        guard let place else { return [] }
        owners[place.watch, default: [:]][place.name, default: []].insert(path)
        return [place]
    }

    private func add(_ path: String, _ mask: Int32) -> CInt? {
        let watch = inotify_add_watch(inotify.number, path, UInt32(bitPattern: mask))
        return watch >= 0 ? watch : nil
    }

    private func release(_ places: Set<WatchedPlace>, of path: String) {
        for place in places {
            owners[place.watch]?[place.name]?.remove(path)
            if owners[place.watch]?[place.name]?.isEmpty == true { owners[place.watch]?[place.name] = nil }
            if owners[place.watch]?.isEmpty == true {
                owners[place.watch] = nil
                inotify_rm_watch(inotify.number, place.watch)
            }
        }
    }
}

/// A name in a watched directory, or with an empty name what is watched itself.
private struct WatchedPlace: Hashable {
    let watch: CInt
    let name: String
}

/// The way to a file, through directories and symbolic links.
private enum FileWay {
    enum Step: Hashable {
        /// A directory on the way.
        case directory(String)
        /// A name that may lead elsewhere later, in its directory: a link, a name that is missing, the file.
        case entry(String, String)
        /// The file itself.
        case file(String)
    }

    /// As many as the kernel follows. C counterpart: MAXSYMLINKS, `path_resolution(7)`.
    private static let linkLimit = 40

    static func steps(to path: String) -> [Step] {
        var steps: [Step] = []
        var directory = ""
        var rest = Array(path.split(at: "/").map(String.init).reversed())
        var links = 0
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                directory = String(directory[..<(directory.unicodeScalars.lastIndex(of: "/") ?? directory.startIndex)])
                continue
            }
            let place = "\(directory)/\(name)"
            var status = stat()
            guard lstat(place, &status) == 0 else { return steps + [.entry(directory + "/", name)] }
            switch status.st_mode & S_IFMT {
            case S_IFLNK:
                steps.append(.entry(directory + "/", name))
                links += 1
                guard links <= linkLimit, let target = target(of: place) else { return steps }
                if target.hasPrefix("/") { directory = "" }
                rest += target.split(at: "/").map(String.init).reversed()
            case S_IFDIR where !rest.isEmpty:
                steps.append(.directory(place))
                directory = place
            default:
                return steps + [.entry(directory + "/", name), .file(place)]
            }
        }
        return steps
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
