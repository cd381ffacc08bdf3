import Dispatch
import LinuxSupport
import Logging
import Netlink

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

    /// Tells the set as it is now, then each change, on the queue, until the result is cancelled or let go.
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
