public import Dispatch
import LinuxSupport
public import Logging
import Netlink

/// The named network namespaces of this machine, as listed by `ip netns`, with notifications of changes.
///
/// ```swift
/// for await entries in NetworkNamespaces().changes {
///     print(entries.map(\.name))
/// }
/// ```
///
/// A name is listed as soon as a namespace is mounted on it. (`ip netns add` first creates an empty file.) The
/// directory may be missing, and may be created or removed at any time.
///
/// If a namespace is deleted and created again before the directory is read, no change is reported here. Managers of
/// that name use the new namespace automatically. If a name is a symbolic link to `/proc/PID/ns/net`, the end of that
/// process is not detected. Use ``NetworkNamespace/process(_:)`` for the namespace of a process.
///
/// An object with listeners uses three descriptors and a thread. Names are watched with `inotify(7)` and mounts with
/// `/proc/self/mountinfo`. No privilege is required. All methods and properties are thread-safe. The object may be
/// released while its listeners and loops continue.
public final class NetworkNamespaces: Sendable {
    /// A closure that receives all namespaces when the set changes.
    public typealias Listener = @Sendable ([Entry]) -> Void

    private let watcher: NamespaceWatcher

    /// Creates an object for a directory of namespaces.
    ///
    /// - Parameters:
    ///   - directory: The absolute path of the directory that contains the names. The default is the directory of `ip
    ///     netns`, `/run/netns`.
    ///   - logger: The logger. Changes are logged at `debug`, failures at `warning`.
    public convenience init(directory: String = "/run/netns", logger: Logger? = nil) {
        self.init(directory: directory, clock: SystemMonitorClock(), logger: logger)
    }

    package init(directory: String, clock: any MonitorClock, logger: Logger? = nil) {
        watcher = NamespaceWatcher(directory: directory, clock: clock, logger: logger)
    }

    /// The current namespaces, sorted by name. Each access reads the directory on the calling thread. Empty if the
    /// directory does not exist or cannot be read.
    public var current: [Entry] { watcher.read().entries }

    /// The names in the directory that are not network namespaces, for example files left behind or dangling links,
    /// sorted. Each access reads the directory on the calling thread.
    public var others: [String] { watcher.read().unfinished }

    /// Adds a listener that is called on `queue`, first with the current namespaces and then whenever a namespace is
    /// added or removed.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the listener is called. A serial queue preserves the order of the calls.
    ///   - listener: A closure that receives all namespaces, sorted by name.
    /// - Returns: A token. The listener ends when the token is cancelled or released.
    public func addListener(
        onQueue queue: DispatchQueue = .main,
        _ listener: @escaping Listener
    ) -> NetworkReachabilityToken {
        let listening = Locked<Listener?>(listener)
        let watch = watcher.add { entries in queue.async { listening.withLock { $0 }?(entries) } }
        return NetworkReachabilityToken(
            Cancellation {
                // The listener may hold the token, so it is released outside the lock.
                let last = listening.withLock { $0.take() }
                watch.cancel()
                withExtendedLifetime(last) {}
            }
        )
    }

    /// The current namespaces, sorted by name, followed by the new set whenever a namespace is added or removed.
    public var changes: some AsyncSequence<[Entry], Never> & Sendable {
        let watcher = watcher
        return NetworkReachabilityUpdates(isSame: ==) { put in watcher.add(put) }
    }
}

extension NetworkNamespaces {
    /// A named network namespace.
    public struct Entry: Hashable, Sendable {
        /// The name without the directory, for example `blue`.
        public let name: String

        /// The value for ``NetworkReachabilityOptions/networkNamespace``.
        public let namespace: NetworkNamespace
    }
}

extension NetworkNamespaces.Entry: CustomStringConvertible {
    /// The name. Control characters are escaped.
    public var description: String { name.printable }
}

/// Watches a directory of namespaces for all listeners. An event only causes the directory to be read again; its
/// content is not used.
final class NamespaceWatcher: Sendable {
    /// The maximum number of retries for a name that is not a namespace yet. The mount table may not announce the
    /// mount, so the directory is read again after 1, 2, 4 ... 512 ms.
    private static let scanLimit = 10

    private struct Observer {
        let deliver: NetworkNamespaces.Listener
        /// The last delivered set.
        var delivered: [NetworkNamespaces.Entry]?
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var lastNumber: UInt64 = 0
        var thread: NamespaceDirectoryThread?
        /// The names that were not namespaces at the last read, and the number of timed reads since these names
        /// changed.
        var unfinished: [String] = []
        var scans = 0
        /// The number of consecutive failed attempts to watch the directory.
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

    /// Returns the current namespaces, and the names that are not namespaces.
    func read() -> (entries: [NetworkNamespaces.Entry], unfinished: [String]) {
        let listing = NamespaceListing(directory: directory)
        let entries = listing.names.map { NetworkNamespaces.Entry(name: $0, namespace: .path("\(directory)/\($0)")) }
        return (entries, listing.others)
    }

    /// Delivers the current set and then each change, on the queue, until the result is cancelled or released. One more
    /// delivery may follow then.
    func add(_ deliver: @escaping NetworkNamespaces.Listener) -> Cancellation {
        let number = state.withLock { state in
            state.lastNumber += 1
            state.observers[state.lastNumber] = Observer(deliver: deliver)
            return state.lastNumber
        }
        queue.async { [self] in scan() }
        return Cancellation { [self] in
            // The closure is released outside the lock.
            let observer = state.withLock { $0.observers.removeValue(forKey: number) }
            queue.async { self.endIfUnused() }
            withExtendedLifetime(observer) {}
        }
    }

    private func endIfUnused() {
        let (thread, retry): (NamespaceDirectoryThread?, Cancellation?) = state.withLock { state in
            guard state.observers.isEmpty else { return (nil, nil) }
            defer { state = State(lastNumber: state.lastNumber) }
            return (state.thread, state.retry)
        }
        thread?.end()
        retry?.cancel()
    }

    /// Starts to watch, then reads, so that no change is missed between the two. Runs on the queue.
    private func scan() {
        if state.withLock({ $0.observers.isEmpty }) { return }
        let isWatched = watch()
        let (entries, unfinished) = read()
        let (isChange, deliveries) = state.withLock { state in
            let outdated = state.observers.filter { $0.value.delivered != entries }
            for number in outdated.keys { state.observers[number]?.delivered = entries }
            defer { state.entries = entries }
            return (state.entries != entries, outdated.values.map(\.deliver))
        }
        if isChange {
            logger?.debug("network namespaces changed", metadata: metadata(["names": "\("\(entries)".printable)"]))
        }
        for deliver in deliveries { deliver(entries) }
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
            // The next attempt uses a new thread.
            thread.end()
            state.withLock { $0.thread = nil }
            logger?.warning("cannot watch network namespaces; retrying", metadata: metadata())
        } catch {
            logger?.warning("cannot watch network namespaces; retrying", metadata: metadata(["error": "\(error)"]))
        }
        return false
    }

    private func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        more.merging(["directory": "\(directory)"]) { first, _ in first }
    }

    /// Schedules another scan if no event may announce the next change.
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
