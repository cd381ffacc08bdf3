import CLinux
package import Dispatch
import Glibc

/// The names in a directory such as `/run/netns`, at one time.
///
/// C counterpart: `readdir(3)`, `statfs(2)` with NSFS_MAGIC, `ioctl_ns(2)` with NS_GET_NSTYPE.
package struct NamespaceListing: Hashable, Sendable {
    /// The sorted names of network namespaces.
    package private(set) var names: [String] = []
    /// The other names, sorted. `ip netns add` first creates an empty file, and then mounts the namespace over it.
    package private(set) var others: [String] = []

    /// Reads a directory. The listing is empty if the directory does not exist or cannot be read.
    package init(directory path: String) {
        for name in (try? DirectoryListing.names(in: path)) ?? [] {
            if Self.isNetworkNamespace("\(path)/\(name)") { names.append(name) } else { others.append(name) }
        }
    }

    private static func isNetworkNamespace(_ path: String) -> Bool {
        var status = statfs()
        // Opening any other file could block or have side effects.
        guard statfs(path, &status) == 0, status.f_type == NSFS_MAGIC else { return false }
        guard let file = try? Descriptor.open(path) else { return false }
        return clinux_is_network_namespace(file.number) != 0
    }
}

/// The files in `/etc/netns/NAME`, which replace those in `/etc` for a named network namespace, such as `resolv.conf`
/// and `hosts`.
///
/// C counterpart: `ip-netns(8)`, `unshare(2)` with CLONE_NEWNS, `mount(2)` with MS_BIND.
package struct NamespaceFiles: Sendable {
    private static let places = ["/run/netns/", "/var/run/netns/"]
    private static let root = "/etc/netns"

    private let directory: String

    /// Returns nil if the namespace has no name or no files.
    package init?(of namespace: NamespaceReference) {
        guard let directory = Self.directory(of: namespace), access(directory, F_OK) == 0 else { return nil }
        self.directory = directory
    }

    /// Returns the directory for the files of the namespace; nil if the namespace has no name.
    private static func directory(of namespace: NamespaceReference) -> String? {
        guard let place = places.first(where: { namespace.path.hasPrefix($0) }) else { return nil }
        return "\(root)/\(namespace.path.dropFirst(place.utf8.count))"
    }

    /// Returns the paths at which the namespace may have its own versions of files of `/etc`. Returns no paths if the
    /// namespace has no name.
    package static func places(of files: [String], in namespace: NamespaceReference) -> [String] {
        guard let directory = directory(of: namespace) else { return [] }
        return files.filter { $0.hasPrefix("/etc/") }.map { "\(directory)/\($0.dropFirst("/etc/".utf8.count))" }
    }

    /// Returns the path of a file of `/etc`, such as `/etc/hosts`, for the namespace.
    package func path(of file: String) -> String {
        guard file.hasPrefix("/etc/") else { return file }
        let own = "\(directory)/\(file.dropFirst("/etc/".utf8.count))"
        return access(own, F_OK) == 0 ? own : file
    }

    /// Mounts the files of the namespace over those of `/etc` for the calling thread, so that the C library reads them.
    /// The thread must end soon, or be the only thread of the program. Threads that it starts later see the same files.
    package func show() throws(SystemError) {
        guard clinux_unshare_mounts() == 0, mount("", "/", "none", UInt(MS_SLAVE) | UInt(MS_REC), nil) == 0 else {
            throw .current
        }
        for name in try DirectoryListing.names(in: directory) {
            // As in `ip netns exec`, files and directories are mounted. A file that does not exist in /etc is skipped.
            let (file, own) = ("/etc/\(name)", "\(directory)/\(name)")
            guard access(file, F_OK) == 0 else { continue }
            guard mount(own, file, "none", UInt(MS_BIND), nil) == 0 else { throw .current }
        }
    }
}

/// A watch of a directory such as `/run/netns`. It uses inotify for the names, and the mount table for the mounts over
/// them, because inotify does not report mounts. It has three descriptors.
///
/// `wait()` requires a separate thread. `interrupt()` may be called on any thread. All other functions must be called on
/// one serial queue.
///
/// C counterpart: `inotify(7)`, `poll(2)` on `/proc/self/mountinfo` (`proc_pid_mounts(5)`).
package final class NamespaceDirectoryWatch: @unchecked Sendable {
    private let directory: String
    private let inotify: Descriptor
    private let wakeup: Wakeup
    /// The mount table; nil if /proc is not mounted.
    private let mounts: Descriptor?

    /// The watch of the directory or of its nearest existing parent. In the second case `missing` is the expected name
    /// in the parent.
    private var watch: CInt = -1
    private var missing: String?

    /// Creates a watch. It reports nothing before `renew()`.
    package init(directory: String) throws(SystemError) {
        self.directory = directory
        let number = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw .current }
        inotify = Descriptor(owning: number)
        wakeup = try Wakeup()
        mounts = try? Descriptor.open("/proc/self/mountinfo")
    }

    /// Watches the objects that exist now. Read the directory afterwards. Returns false if the kernel refuses
    /// (`max_user_watches`).
    package func renew() -> Bool {
        // A directory may be created before its watch is added, so the loop ends when two rounds have the same result.
        while true {
            let last = watch
            (watch, missing) = addNearest()
            if watch == last || watch < 0 { break }
            if last >= 0 { inotify_rm_watch(inotify.number, last) }
        }
        return watch >= 0
    }

    private func addNearest() -> (watch: CInt, missing: String?) {
        var path = directory
        var missing: String?
        while true {
            let mask =
                IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
            let watch = inotify_add_watch(inotify.number, path, UInt32(mask))
            if watch >= 0 { return (watch, missing) }
            guard errno == ENOENT || errno == ENOTDIR, let slash = path.unicodeScalars.lastIndex(of: "/") else {
                return (-1, nil)
            }
            missing = String(path[path.unicodeScalars.index(after: slash)...])
            if path == "/" { return (-1, nil) }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }

    /// Blocks until an event occurs. Returns whether the event concerns mounts. `drain()` reports the events of names.
    ///
    /// - Throws: The error of `poll(2)`, for example if the process may have fewer than three descriptors.
    package func wait() throws(SystemError) -> Bool {
        var polls = [
            pollfd(fd: inotify.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mountsNumber, events: Int16(POLLPRI), revents: 0),
        ]
        while poll(&polls, nfds_t(polls.count), -1) < 0 {
            if errno != EINTR { throw .current }
        }
        return polls[2].revents != 0
    }

    private var mountsNumber: CInt {
        switch mounts {
        case .some(let mounts): mounts.number
        // poll(2) ignores negative numbers.
        case .none: -1
        }
    }

    /// Reads all pending events without waiting. Returns whether one of them concerns the directory.
    package func drain() -> Bool {
        var isConcerned = false
        for event in InotifyEvent.read(from: inotify) {
            if event.isOverflow {
                isConcerned = true
            } else if event.watch == watch {
                // Events without a name concern the watched directory itself.
                if missing == nil || event.name.isEmpty || event.name == missing { isConcerned = true }
                if event.isLastOfWatch { watch = -1 }
            }
        }
        return isConcerned
    }

    /// Ends the current `wait()` and all later ones immediately.
    package func interrupt() {
        wakeup.wake()
    }
}

/// A thread that waits for changes of a directory of namespaces. Dispatch cannot monitor the mount table, because it is
/// always readable, and its urgent condition (POLLPRI) is cleared by the first poll.
package final class NamespaceDirectoryThread: Sendable {
    private let watch: NamespaceDirectoryWatch
    private let hasEnded = Locked(false)

    package init(_ directory: String) throws(SystemError) {
        watch = try NamespaceDirectoryWatch(directory: directory)
    }

    /// Runs `changed` on `queue` for each change, until `end()`. If the thread can no longer wait, it reports a last
    /// change and ends.
    package func start(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) throws(SystemError) {
        try Thread.detach { [self] in
            while !hasEnded.withLock({ $0 }) {
                let concernsMounts = try? watch.wait()
                queue.sync { [self] in
                    if hasEnded.withLock({ $0 }) { return }
                    if concernsMounts == nil { hasEnded.withLock { $0 = true } }
                    let concernsNames = watch.drain()
                    if concernsMounts ?? true || concernsNames { changed() }
                }
            }
        }
    }

    /// Watches the objects that exist now. Call it on the queue. Returns false if the kernel refuses or the thread has
    /// ended.
    package func renew() -> Bool { !hasEnded.withLock { $0 } && watch.renew() }

    /// Ends the thread without waiting for it.
    package func end() {
        hasEnded.withLock { $0 = true }
        watch.interrupt()
    }
}
