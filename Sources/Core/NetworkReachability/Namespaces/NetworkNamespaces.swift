public import Dispatch
import LinuxSupport
public import Logging
import Netlink

/// The named network namespaces of the machine, as they come and go: those that `ip netns` lists.
///
/// ```swift
/// for await entries in NetworkNamespaces().changes {
///     print(entries.map(\.name))
/// }
/// ```
///
/// A name counts from the moment on that its namespace is mounted: `ip netns add` makes an empty file first. The directory
/// may be missing, and may come and go. One that is deleted and made again before anybody has read the directory is no change here; the
/// managers of that name follow it by themselves. Where a name is a symbolic link to `/proc/PID/ns/net`, nothing tells that
/// the process has ended; ``NetworkNamespace/process(_:)`` is for that.
///
/// Listening costs three descriptors and a thread for each of these objects: names are heard of by `inotify(7)`, mounts by
/// `/proc/self/mountinfo`, for which no privilege is needed. All of it may be used from any thread. It may be let go while
/// its listeners and loops go on.
public final class NetworkNamespaces: Sendable {
    /// What is called when the set changes, with all of it.
    public typealias Listener = @Sendable ([Entry]) -> Void

    private let follower: NamespaceFollower

    /// - Parameters:
    ///   - directory: Where the names are, an absolute path; `/run/netns` is that of `ip netns`.
    ///   - logger: Where to log: changes at `debug`, trouble with the kernel at `warning`.
    public convenience init(directory: String = "/run/netns", logger: Logger? = nil) {
        self.init(directory: directory, clock: SystemMonitorClock(), logger: logger)
    }

    package init(directory: String, clock: any MonitorClock, logger: Logger? = nil) {
        follower = NamespaceFollower(directory: directory, clock: clock, logger: logger)
    }

    /// The namespaces there are now, ordered by name. Reads the directory each time, on the calling thread; empty where
    /// there is none, or it cannot be read.
    public var current: [Entry] { follower.read().entries }

    /// The names in the directory that are not network namespaces now, in order: files that were left behind, dangling links. Reads the
    /// directory each time, on the calling thread.
    public var others: [String] { follower.read().unfinished }

    /// Adds a listener, called on `queue` first with the namespaces there are, then whenever one comes or goes, until the
    /// token is let go or cancelled.
    ///
    /// - Parameters:
    ///   - queue: Where the listener is called; a serial queue keeps the calls in order.
    ///   - listener: What is called with all namespaces, ordered by name.
    /// - Returns: What keeps the listener alive.
    public func addListener(
        onQueue queue: DispatchQueue = .main,
        _ listener: @escaping Listener
    ) -> NetworkReachabilityToken {
        NetworkReachabilityToken(
            follower.add { entries, observer in
                queue.async { [weak observer] in
                    guard let observer, !observer.hasEnded else { return }
                    listener(entries)
                }
            }
        )
    }

    /// The namespaces there are, ordered by name, now and whenever one comes or goes.
    public var changes: some AsyncSequence<[Entry], Never> & Sendable {
        let follower = follower
        return NetworkReachabilityUpdates { continuation in
            follower.add { entries, _ in continuation.yield(entries) }
        }
    }
}

extension NetworkNamespaces {
    /// A named network namespace.
    public struct Entry: Hashable, Sendable {
        /// The name in the directory, without it: `blue`.
        public let name: String

        /// What to set ``NetworkReachabilityOptions/networkNamespace`` to.
        public let namespace: NetworkNamespace
    }
}

extension NetworkNamespaces.Entry: CustomStringConvertible {
    /// The name. What would steer a terminal is shown escaped.
    public var description: String { name.printable }
}
