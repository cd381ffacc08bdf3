import CLinux
package import Dispatch
import Glibc

/// A watch of single files. It monitors every directory and link on the path of a file, so that a file or a directory
/// may be replaced, linked to another place, deleted and created again. A link may dangle at first.
///
/// Not thread-safe: use it on one thread at a time. C counterpart: `inotify(7)`.
package final class FileWatch: @unchecked Sendable {
    private let inotify: Descriptor
    /// The mount table of the process.
    private let mountTable: Descriptor?
    /// An epoll descriptor that is readable after an event of inotify and after a change of the mount table.
    private let events: Descriptor?
    /// A descriptor that is readable after a change.
    package let descriptor: CInt
    private let watchesContents: Bool
    /// The objects that the paths lead to. A mount at a path changes them without an event of inotify.
    private var objects: [String: NamespaceIdentity] = [:]
    /// The watches of each path.
    private var places: [String: Set<WatchedName>] = [:]
    /// The paths that a watch descriptor concerns, by the name in the watched directory. The name is empty for the
    /// watched object itself.
    private var owners: [CInt: [String: Set<String>]] = [:]

    /// - Parameters:
    ///   - paths: The absolute paths.
    ///   - watchesContents: Whether to watch the file itself too, and mounts at its path. A write through another name,
    ///     such as a bind mount or a hard link, is not reported for its directory. The watch keeps the inode in memory,
    ///     which keeps a namespace alive.
    package init(paths: [String], watchesContents: Bool = false) throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw .current }
        inotify = Descriptor(owning: number)
        self.watchesContents = watchesContents
        let table = watchesContents ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1
        let poller = table >= 0 ? epoll_create1(CInt(EPOLL_CLOEXEC)) : -1
        mountTable = table >= 0 ? Descriptor(owning: table) : nil
        events = poller >= 0 ? Descriptor(owning: poller) : nil
        descriptor = poller >= 0 ? poller : number
        if poller >= 0 {
            _ = clinux_epoll_set(poller, EPOLL_CTL_ADD, number, EPOLLIN.rawValue, 0)
            // proc(5): a change of the mount table is an exceptional condition.
            _ = clinux_epoll_set(poller, EPOLL_CTL_ADD, table, EPOLLPRI.rawValue, 1)
        }
        for path in paths { insert(path) }
    }

    /// Removes a file.
    package func remove(_ path: String) {
        objects[path] = nil
        release(places.removeValue(forKey: path) ?? [], of: path)
    }

    /// Reads all pending events without waiting. Returns whether a file has changed.
    package func drain() -> Bool { !changes().isEmpty }

    /// Reads all pending events without waiting. Returns the paths of the changed files.
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
        if watchesContents {
            for path in places.keys where objects[path] != Self.object(at: path) { changed.insert(path) }
        }
        // The path may now lead through other directories or links.
        for path in changed where places[path] != nil { insert(path) }
        return changed
    }

    /// Adds a file, or watches the objects that now exist on its path.
    package func insert(_ path: String) {
        let before = places[path] ?? []
        var after: Set<WatchedName> = []
        // A file that is created between the check and the watch is not reported.
        for _ in 0..<4 {
            let steps = PathComponents.steps(to: path)
            after = Set(steps.flatMap { add($0, for: path) })
            if PathComponents.steps(to: path) == steps { break }
        }
        places[path] = after
        objects[path] = watchesContents ? Self.object(at: path) : nil
        release(before.subtracting(after), of: path)
    }

    /// Returns the identity of the object at a path; nil without one.
    private static func object(at path: String) -> NamespaceIdentity? { try? NamespaceIdentity(path: path) }

    private func add(_ step: PathComponents.Step, for path: String) -> [WatchedName] {
        let own = IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD
        let place: WatchedName?
        switch step {
        case .directory(let directory):
            place = add(directory, own | IN_ONLYDIR).map { WatchedName(watch: $0, name: "") }
        case .entry(let directory, let name):
            let mask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR
            guard let watch = add(directory, own | mask) else { return [] }
            let places = [WatchedName(watch: watch, name: name), WatchedName(watch: watch, name: "")]
            for place in places { owners[watch, default: [:]][place.name, default: []].insert(path) }
            return places
        case .file(let file):
            guard watchesContents else { return [] }
            place = add(file, own | IN_CLOSE_WRITE).map { WatchedName(watch: $0, name: "") }
        }
        guard let place else { return [] }
        owners[place.watch, default: [:]][place.name, default: []].insert(path)
        return [place]
    }

    private func add(_ path: String, _ mask: Int32) -> CInt? {
        let watch = inotify_add_watch(inotify.number, path, UInt32(bitPattern: mask))
        return watch >= 0 ? watch : nil
    }

    private func release(_ places: Set<WatchedName>, of path: String) {
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

/// A name in a watched directory. With an empty name, the watched object itself.
private struct WatchedName: Hashable {
    let watch: CInt
    let name: String
}

/// The directories and symbolic links on the path of a file.
private enum PathComponents {
    enum Step: Hashable {
        /// A directory on the path.
        case directory(String)
        /// A name in a directory that may refer to another object later: a link, a missing name, or the file.
        case entry(String, String)
        /// The file itself.
        case file(String)
    }

    /// The maximum number of symbolic links that the kernel follows. C counterpart: MAXSYMLINKS, `path_resolution(7)`.
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
                guard links <= linkLimit, let target = FileName.target(of: place) else { return steps }
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
}

/// One event of an inotify descriptor.
///
/// C counterpart: `struct inotify_event`, `inotify(7)`.
package struct InotifyEvent: Sendable {
    package let watch: CInt
    package let mask: UInt32
    /// The name in the watched directory; empty for the directory itself.
    package let name: String

    /// Whether events were lost (IN_Q_OVERFLOW).
    package var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }

    /// True if the watch has ended (IN_IGNORED): the object was deleted or unmounted, or the watch was removed.
    package var isLastOfWatch: Bool { mask & UInt32(IN_IGNORED) != 0 }

    /// Reads all pending events. It does not wait if the descriptor is non-blocking.
    package static func read(from inotify: borrowing Descriptor) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(inotify.number, &bytes, bytes.count)
            guard count > 0 else { return events }
            bytes.withUnsafeBytes { buffer in
                var rest = buffer.bytes(from: 0, length: count)
                // Descriptor, mask, cookie and length of the name that follows.
                while let watch = rest.load(Int32.self, at: 0), let mask = rest.load(UInt32.self, at: 4),
                    let length = rest.load(UInt32.self, at: 12)
                {
                    let name = rest.bytes(from: 16, length: Int(length)).text
                    events.append(InotifyEvent(watch: watch, mask: mask, name: name))
                    rest = rest.bytes(from: 16 + Int(length))
                }
            }
        }
    }
}

/// A shared inotify descriptor for all files that this process watches because of namespaces. It is open while files
/// are watched. By default a user may have 128 inotify descriptors (`/proc/sys/fs/inotify/max_user_instances`), and
/// there may be more namespaces.
package final class SharedFileWatch: Sendable {
    package static let shared = SharedFileWatch()

    private struct Observer {
        let path: String
        let queue: DispatchQueue
        let action: @Sendable () -> Void
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var next: UInt64 = 0
        var watch: FileWatch?
        var source: Cancellation?
    }

    private let state: Locked<State> = Locked(State())
    private let queue = DispatchQueue(label: "LinuxSupport.files")

    /// Runs `action` on `queue` when the file at an absolute path is replaced, deleted or created. Returns nil if no
    /// descriptor is available.
    package func add(_ path: String, on queue: DispatchQueue, _ action: @escaping @Sendable () -> Void) -> Cancellation?
    {
        let identifier: UInt64? = state.withLock { state in
            if state.watch == nil { start(&state) }
            guard let watch = state.watch else { return nil }
            watch.insert(path)
            state.next += 1
            state.observers[state.next] = Observer(path: path, queue: queue, action: action)
            return state.next
        }
        guard let identifier else { return nil }
        return Cancellation { [self] in remove(identifier) }
    }

    /// Watches a file again whose directory may have been missing. It has no effect if the file is not watched.
    package func renew(_ path: String) {
        state.withLock { state in
            if state.observers.values.contains(where: { $0.path == path }) { state.watch?.insert(path) }
        }
    }

    private func remove(_ identifier: UInt64) {
        let (observer, source): (Observer?, Cancellation?) = state.withLock { state in
            let observer = state.observers.removeValue(forKey: identifier)
            if let path = observer?.path, !state.observers.values.contains(where: { $0.path == path }) {
                state.watch?.remove(path)
            }
            guard state.observers.isEmpty else { return (observer, nil) }
            defer { (state.watch, state.source) = (nil, nil) }
            return (observer, state.source)
        }
        source?.cancel()
        withExtendedLifetime(observer) {}
    }

    private func start(_ state: inout State) {
        guard let watch = try? FileWatch(paths: []) else { return }
        state.watch = watch
        state.source = ReadSource.watch(watch.descriptor, of: watch, on: queue) { [self] in notifyWatchers() }
    }

    private func notifyWatchers() {
        let observers = state.withLock { state in
            let changes = state.watch?.changes() ?? []
            return state.observers.values.filter { changes.contains($0.path) }
        }
        for observer in observers { observer.queue.async(execute: observer.action) }
    }
}
