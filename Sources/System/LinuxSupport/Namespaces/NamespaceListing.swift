import CLinux
package import Dispatch
import Glibc

/// The names in a directory such as `/run/netns`, at one moment.
///
/// C counterpart: `readdir(3)`, `statfs(2)` with NSFS_MAGIC, `ioctl_ns(2)` with NS_GET_NSTYPE.
package struct NamespaceListing: Hashable, Sendable {
    /// The sorted names of network namespaces.
    package private(set) var names: [String] = []
    /// The other sorted names: `ip netns add` creates an empty file first, and then mounts the namespace over it.
    package private(set) var others: [String] = []

    /// Empty where there is no such directory, or it cannot be read.
    package init(directory path: String) {
        guard let directory = opendir(path) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            // A name that is no text could not be given back to the kernel as it was.
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(validating: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, name != ".", name != ".." else { continue }
            if Self.isNetworkNamespace("\(path)/\(name)") { names.append(name) } else { others.append(name) }
        }
        names.sort()
        others.sort()
    }

    private static func isNetworkNamespace(_ path: String) -> Bool {
        var status = statfs()
        // Opening anything else could wait, or do something.
        guard statfs(path, &status) == 0, status.f_type == NSFS_MAGIC else { return false }
        guard let file = try? Descriptor.open(path) else { return false }
        return clinux_is_network_namespace(file.number) != 0
    }
}

/// The files in `/etc/netns/NAME`, which a named network namespace has in place of those in `/etc`: its name servers, its hosts, whatever else is there.
///
/// C counterpart: `ip-netns(8)`, `unshare(2)` with CLONE_NEWNS, `mount(2)` with MS_BIND.
package struct NamespaceFiles: Sendable {
    private static let places = ["/run/netns/", "/var/run/netns/"]
    private static let root = "/etc/netns"

    private let directory: String

    /// Nil for a namespace without a name, or without files of its own.
    package init?(of namespace: NamespaceReference) {
        guard let directory = Self.directory(of: namespace), access(directory, F_OK) == 0 else { return nil }
        self.directory = directory
    }

    /// Where the namespace would have its files; nil for one without a name.
    private static func directory(of namespace: NamespaceReference) -> String? {
        guard let place = places.first(where: { namespace.path.hasPrefix($0) }) else { return nil }
        return "\(root)/\(namespace.path.dropFirst(place.utf8.count))"
    }

    /// Where the namespace has these files of `/etc`, now or later; nothing for a namespace without a name.
    package static func places(of files: [String], in namespace: NamespaceReference) -> [String] {
        guard let directory = directory(of: namespace) else { return [] }
        return files.filter { $0.hasPrefix("/etc/") }.map { "\(directory)/\($0.dropFirst("/etc/".utf8.count))" }
    }

    /// Where the namespace has a file of `/etc`, such as `/etc/hosts`.
    package func path(of file: String) -> String {
        guard file.hasPrefix("/etc/") else { return file }
        let own = "\(directory)/\(file.dropFirst("/etc/".utf8.count))"
        return access(own, F_OK) == 0 ? own : file
    }

    /// Lets the calling thread see them in `/etc`, where the C library looks for them. It must be about to end, or be the only one of a
    /// program, whose later threads see them too.
    package func show() throws(SystemError) {
        guard clinux_unshare_mounts() == 0, mount("", "/", "none", UInt(MS_SLAVE) | UInt(MS_REC), nil) == 0 else {
            throw .current
        }
        for name in try DirectoryListing.names(in: directory) {
            // As `ip netns exec` does: files and directories alike, and what has no place in /etc is left out.
            let (file, own) = ("/etc/\(name)", "\(directory)/\(name)")
            guard access(file, F_OK) == 0 else { continue }
            guard mount(own, file, "none", UInt(MS_BIND), nil) == 0 else { throw .current }
        }
    }
}

/// Waits for changes of a directory such as `/run/netns`: names, by inotify, and what is mounted over them, by the mount
/// table, for inotify tells nothing of mounts. Three descriptors.
///
/// `wait()` belongs to a thread of its own, `interrupt()` to anybody, the rest to whoever that thread wakes and waits for.
///
/// C counterpart: `inotify(7)`, `poll(2)` on `/proc/self/mountinfo` (`proc_pid_mounts(5)`).
package final class NamespaceDirectoryWatch: @unchecked Sendable {
    private let directory: String
    private let inotify: Descriptor
    private let wakeup: Wakeup
    /// Nil where /proc is not mounted.
    private let mounts: Descriptor?

    /// What is watched: the directory, or the nearest one above it that is there, and then what it waits for in it.
    private var watch: CInt = -1
    private var missing: String?

    /// Watches nothing before `renew()`.
    package init(directory: String) throws(SystemError) {
        self.directory = directory
        let number = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard number >= 0 else { throw .current }
        inotify = Descriptor(owning: number)
        wakeup = try Wakeup()
        mounts = try? Descriptor.open("/proc/self/mountinfo")
    }

    /// Watches what is there now; read the directory afterwards. False when the kernel refuses (`max_user_watches`).
    package func renew() -> Bool {
        // Something may be made between a reading and its watch, so until two rounds come to the same.
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

    /// Blocks until something has happened, for as long as it takes, and says whether it concerns mounts. `drain()` tells
    /// of the rest.
    ///
    /// - Throws: what poll(2) says: a process that may have fewer than three descriptors may not wait for three.
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
        // poll(2) passes over negative numbers.
        case .none: -1
        }
    }

    /// Reads what is there, without waiting, and says whether it concerns the directory.
    package func drain() -> Bool {
        var isConcerned = false
        for event in InotifyEvent.read(from: inotify) {
            if event.isOverflow {
                isConcerned = true
            } else if event.watch == watch {
                // Events without a name are the directory's own.
                if missing == nil || event.name.isEmpty || event.name == missing { isConcerned = true }
                if event.isLastOfWatch { watch = -1 }
            }
        }
        return isConcerned
    }

    /// Ends the `wait()` under way, and every later one at once.
    package func interrupt() {
        wakeup.wake()
    }
}

/// A thread that waits for changes of a directory of namespaces. Dispatch cannot wait for the mount table: it is always
/// readable, and what is urgent about a change is gone once somebody has asked.
package final class NamespaceDirectoryThread: Sendable {
    private let watch: NamespaceDirectoryWatch
    private let hasEnded = Locked(false)

    package init(_ directory: String) throws(SystemError) {
        watch = try NamespaceDirectoryWatch(directory: directory)
    }

    /// Runs `changed` on `queue` for each change, until `end()`, or until it cannot wait any more, which it tells as a change.
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

    /// Watches what is there now, on the queue; false when the kernel refuses, or the thread has ended.
    package func renew() -> Bool { !hasEnded.withLock { $0 } && watch.renew() }

    /// Ends the thread soon, without waiting for it.
    package func end() {
        hasEnded.withLock { $0 = true }
        watch.interrupt()
    }
}
