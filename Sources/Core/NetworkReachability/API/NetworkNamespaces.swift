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
    /// A closure that is called with all namespaces when the set changes.
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
    ///   - queue: The queue of the listener. A serial queue keeps the calls in order.
    ///   - listener: A closure that is called with all namespaces, sorted by name.
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

/// Follows a directory of namespaces for everybody who wants to hear of it. As with a monitor an event is never the
/// answer: whatever happens, the directory is read again.
final class NamespaceFollower: Sendable {
    /// A name that is no namespace yet is opened again after 1, 2, 4 ... 512 ms, should the mount table not announce it.
    private static let scanLimit = 10

    private struct State {
        var observers: [ObjectIdentifier: NamespaceObserver] = [:]
        var thread: NamespaceDirectoryThread?
        /// The names that were no namespaces when last read, and how often time has made us read the directory since they changed.
        var unfinished: [String] = []
        var scans = 0
        /// Attempts to watch that failed since the last that worked.
        var failures = 0
        var entries: [NetworkNamespaces.Entry]?
        var retry: Cancellation?
    }

    private let directory: String
    private let clock: any MonitorClock
    private let logger: Logger?
    private let queue = DispatchQueue(label: "NetworkReachability.namespaces")
    private let state: Locked<State> = Locked(State())

    init(directory: String, clock: any MonitorClock, logger: Logger?) {
        self.directory = directory
        self.clock = clock
        self.logger = logger
    }

    deinit {
        state.withLock { $0.thread }?.end()
    }

    /// The namespaces, and the names that are none, now.
    func read() -> (entries: [NetworkNamespaces.Entry], unfinished: [String]) {
        let listing = NamespaceListing(directory: directory)
        let entries = listing.names.map { NetworkNamespaces.Entry(name: $0, namespace: .path("\(directory)/\($0)")) }
        return (entries, listing.others)
    }

    /// Delivers the current set and then each change on the queue, until the result is cancelled or released.
    func add(_ deliver: @escaping NamespaceObserver.Delivery) -> Cancellation {
        let observer = NamespaceObserver(deliver)
        queue.async { [self] in begin(observer) }
        return Cancellation { [self] in
            observer.end()
            queue.async { self.end(observer) }
        }
    }

    private func begin(_ observer: NamespaceObserver) {
        guard !observer.hasEnded else { return }
        state.withLock { $0.observers[ObjectIdentifier(observer)] = observer }
        scan()
    }

    private func end(_ observer: NamespaceObserver) {
        let (thread, retry): (NamespaceDirectoryThread?, Cancellation?) = state.withLock { state in
            state.observers[ObjectIdentifier(observer)] = nil
            guard state.observers.isEmpty else { return (nil, nil) }
            defer { state = State() }
            return (state.thread, state.retry)
        }
        thread?.end()
        retry?.cancel()
    }

    /// Watches first, reads second, so that nothing falls in between. Runs on the queue.
    private func scan() {
        let observers = state.withLock { Array($0.observers.values) }
        guard !observers.isEmpty else { return }
        let isWatched = watch()
        let (entries, unfinished) = read()
        let isChange = state.withLock { state in
            defer { state.entries = entries }
            return state.entries != entries
        }
        if isChange { logger?.debug("network namespaces", metadata: metadata(["names": "\("\(entries)".printable)"])) }
        for observer in observers { observer.offer(entries) }
        scheduleScan(unfinished, isWatched: isWatched)
    }

    private func scanAgain() {
        state.withLock { $0.scans += 1 }
        scan()
    }

    private func watch() -> Bool {
        do {
            let thread = try state.withLock { state throws(SystemError) in
                if let thread = state.thread { return thread }
                let thread = try NamespaceDirectoryThread(directory)
                try thread.start(on: queue) { [weak self] in self?.scan() }
                state.thread = thread
                return thread
            }
            if thread.renew() { return true }
            // The next attempt begins with another thread.
            thread.end()
            state.withLock { $0.thread = nil }
            logger?.warning("cannot watch for namespaces, trying again", metadata: metadata())
        } catch {
            logger?.warning("cannot watch for namespaces, trying again", metadata: metadata(["error": "\(error)"]))
        }
        return false
    }

    private func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        more.merging(["directory": "\(directory)"]) { first, _ in first }
    }

    /// Scans again after a while where nothing else may announce a change.
    private func scheduleScan(_ unfinished: [String], isWatched: Bool) {
        let delay: Duration? = state.withLock { state in
            if state.unfinished != unfinished { (state.unfinished, state.scans) = (unfinished, 0) }
            guard isWatched else {
                defer { state.failures += 1 }
                return MonitorTiming.retryDelay(afterFailures: state.failures)
            }
            state.failures = 0
            guard !unfinished.isEmpty, state.scans < Self.scanLimit else { return nil }
            return .milliseconds(1 << state.scans)
        }
        let retry = delay.map { clock.schedule(after: $0, on: queue) { [weak self] in self?.scanAgain() } }
        let previous = state.withLock { state in
            defer { state.retry = retry }
            return state.retry
        }
        previous?.cancel()
    }
}

/// A listener of the set of namespaces.
final class NamespaceObserver: Sendable {
    typealias Delivery = @Sendable ([NetworkNamespaces.Entry], NamespaceObserver) -> Void

    private struct State {
        /// Let go of at the end: a listener may well hold what holds this.
        var deliver: Delivery?
        var notified: [NetworkNamespaces.Entry]?
    }

    private let state: Locked<State>

    init(_ deliver: @escaping Delivery) {
        state = Locked(State(deliver: deliver))
    }

    /// Whether nothing more may be notified.
    var hasEnded: Bool { state.withLock { $0.deliver == nil } }

    /// Notifies no more.
    func end() {
        let deliver = state.withLock { state in
            defer { state.deliver = nil }
            return state.deliver
        }
        // Objects of the listener are released here, outside the lock.
        withExtendedLifetime(deliver) {}
    }

    /// Takes the set as it is now, and delivers it if it has changed.
    func offer(_ entries: [NetworkNamespaces.Entry]) {
        let deliver: Delivery? = state.withLock { state in
            guard state.notified != entries else { return nil }
            state.notified = entries
            return state.deliver
        }
        deliver?(entries, self)
    }
}
