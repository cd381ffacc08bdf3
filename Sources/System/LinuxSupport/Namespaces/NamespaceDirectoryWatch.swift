import CLinux
import Glibc

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
