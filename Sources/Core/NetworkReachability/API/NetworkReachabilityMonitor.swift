public import Dispatch
import LinuxSupport
import Netlink

/// Watches any number of hosts, and reports all changes in one place.
///
/// It answers each of them as a ``NetworkReachabilityManager`` would, and shares everything with those: ten thousand targets
/// cost two netlink sockets, and after a change of a route those targets alone are evaluated that the route leads to.
///
/// ```swift
/// let monitor = try NetworkReachabilityMonitor()
/// try monitor.insert("192.0.2.1")
/// try monitor.insert("example.org")
/// for await change in monitor.changes { print(change) }
/// ```
///
/// All of it may be used from any thread. Hosts may come and go at any time, in logarithmic time or better.
public final class NetworkReachabilityMonitor: Sendable {
    private struct WeakListener {
        weak let listener: ChangeListener?
    }

    /// A host, and its place among all that were ever inserted.
    private struct Watched {
        let record: TargetRecord
        let place: UInt64
    }

    private struct State {
        var hosts: [String: Watched] = [:]
        var lastPlace: UInt64 = 0
        var listeners: [WeakListener] = []
    }

    private let options: NetworkReachabilityOptions
    private let monitor: PathMonitor
    private let state: Locked<State> = Locked(State())

    /// A monitor without targets.
    ///
    /// - Throws: ``NetworkReachabilityError`` when a namespace cannot be entered.
    public convenience init(
        options: NetworkReachabilityOptions = NetworkReachabilityOptions()
    ) throws(NetworkReachabilityError) {
        self.init(monitor: try MonitorRegistry.monitor(of: options), options: options)
    }

    package init(monitor: PathMonitor, options: NetworkReachabilityOptions) {
        self.monitor = monitor
        self.options = options
    }
}

// MARK: - Targets

extension NetworkReachabilityMonitor {
    /// The hosts that are watched, in the order in which they were inserted.
    public var hosts: [String] { inOrder.map(\.host) }

    private var inOrder: [(host: String, record: TargetRecord)] {
        state.withLock { $0.hosts }.sorted { $0.value.place < $1.value.place }.map { ($0.key, $0.value.record) }
    }

    /// How many hosts are watched.
    public var count: Int { state.withLock { $0.hosts.count } }

    /// Checks a host without watching it.
    ///
    /// - Throws: ``NetworkReachabilityError`` when it is neither a name nor an address.
    public func check(_ host: String) throws(NetworkReachabilityError) {
        _ = try Target(host: host, options: options)
    }

    /// Watches one more host, given by name or by address literal; listeners hear of its state soon.
    ///
    /// - Returns: False if it was watched already.
    /// - Throws: ``NetworkReachabilityError`` when `host` is neither.
    @discardableResult
    public func insert(_ host: String) throws(NetworkReachabilityError) -> Bool {
        let record = monitor.record(of: try Target(host: host, options: options))
        let listeners: [ChangeListener]? = state.withLock { state in
            guard state.hosts[host] == nil else { return nil }
            state.lastPlace += 1
            state.hosts[host] = Watched(record: record, place: state.lastPlace)
            return state.listeners.compactMap(\.listener)
        }
        guard let listeners else { return false }
        for listener in listeners { tell(listener, of: host, record) }
        return true
    }

    /// Stops watching a host. A change that is being delivered may still be reported.
    ///
    /// - Returns: False if it was not watched.
    @discardableResult
    public func remove(_ host: String) -> Bool {
        let (record, listeners) = state.withLock { state in
            (state.hosts.removeValue(forKey: host)?.record, state.listeners.compactMap(\.listener))
        }
        guard let record else { return false }
        for listener in listeners { tell(listener, of: host, nil) }
        return withExtendedLifetime(record) { true }
    }

    /// Makes these the hosts that are watched: removes all others, and inserts what is missing, in their order.
    ///
    /// - Throws: ``NetworkReachabilityError`` when one of them is no host; then nothing has changed.
    public func setHosts(_ hosts: some Sequence<String>) throws(NetworkReachabilityError) {
        let hosts = Array(hosts)
        for host in hosts { try check(host) }
        let wanted = Set(hosts)
        for host in self.hosts where !wanted.contains(host) { remove(host) }
        for host in hosts { try insert(host) }
    }

    /// The path packets to a host take now; nil if it is not watched. Asks the kernel on the calling thread, as
    /// ``NetworkReachabilityManager/path`` does, and like that waits for no name inside a task.
    public func path(to host: String) -> NetworkPath? {
        guard let record = state.withLock({ $0.hosts[host]?.record }) else { return nil }
        return monitor.path(to: record, waitingForName: CurrentTask.exists ? .zero : options.nameResolutionWait)
    }

    /// What this monitor, and every manager of its namespace, has done so far.
    public var statistics: MonitorStatistics { monitor.statistics }
}

// MARK: - Listeners

extension NetworkReachabilityMonitor {
    /// Adds a listener of every target: notified first of what each of them is now, in the order of ``hosts``, then whenever the part of its path changes that
    /// the listener is interested in. What happens to one host is notified in order.
    ///
    /// A listener that is slow, or whose queue is, hears the latest of each host when its turn comes, not everything in
    /// between: so many changes are kept as there are hosts, however many there are meanwhile.
    ///
    /// - Parameters:
    ///   - interest: What counts as a change.
    ///   - policy: How long a change has to last before it is notified.
    ///   - queue: Where the listener is called; a serial one. With nil it is called at once by the monitor itself, which holds
    ///     everybody else up until it returns.
    ///   - listener: A closure that is called with the host and its path.
    /// - Returns: What keeps the listener alive, also without the monitor.
    public func addListener(
        for interest: NetworkReachabilityInterest = .status,
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue? = .main,
        _ listener: @escaping @Sendable (NetworkReachabilityChange) -> Void
    ) -> NetworkReachabilityToken {
        let outlet: ChangeListener.Outlet = queue.map { .queue($0, listener) } ?? .direct(listener)
        let changes = ChangeListener(interest, policy, outlet)
        add(changes)
        return NetworkReachabilityToken(Cancellation { changes.end() })
    }

    /// The state of every target now, and each change of a status: ``changes(for:settle:)`` with its defaults.
    public var changes: some AsyncSequence<NetworkReachabilityChange, Never> & Sendable { changes(for: .status) }

    /// The state of every target now, and each change that counts for `interest` and lasts as `policy` wants it.
    ///
    /// Each loop is a listener of its own, and ends with its task. One that is slow reads the latest of each host.
    public func changes(
        for interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy = .immediate
    ) -> some AsyncSequence<NetworkReachabilityChange, Never> & Sendable {
        NetworkReachabilityChanges { [self] signal in
            let listener = ChangeListener(interest, policy, .signal(signal))
            add(listener)
            return listener
        }
    }

    private func add(_ listener: ChangeListener) {
        state.withLock { state in
            state.listeners.removeAll { $0.listener == nil }
            state.listeners.append(WeakListener(listener: listener))
        }
        // On the monitor's queue, so that all hosts begin together and are reported in order.
        monitor.soon { [self] in
            for (host, record) in inOrder { tell(listener, of: host, record) }
        }
    }

    /// Lets a listener hear of a host, or no more. Others may remove or insert it at the same moment, and be faster or slower
    /// with their listeners: whoever comes last has seen to it that what the listener follows is what is watched.
    private func tell(_ listener: ChangeListener, of host: String, _ record: TargetRecord?) {
        var record = record
        while true {
            if let record { listener.follow(host, record) } else { listener.leave(host) }
            let current = state.withLock { $0.hosts[host]?.record }
            if current === record { return }
            record = current
        }
    }
}

/// What became of one of many targets.
public struct NetworkReachabilityChange: Hashable, Sendable {
    /// The host as it was given.
    public let host: String

    /// The current path of packets to the host, or the reason that there is none.
    public let path: NetworkPath

    /// The current status of the host.
    public var status: NetworkReachabilityStatus { path.status }
}

extension NetworkReachabilityChange: CustomStringConvertible {
    /// For example `example.org: not reachable, no carrier, interface eth0`. What would steer a terminal is shown escaped.
    public var description: String { "\(host.printable): \(path)" }
}

/// The changes of many targets as an asynchronous sequence: it begins with what each of them is now, goes on with each
/// change, and keeps only the newest of each host for a reader that is slow. It never fails and never ends by itself.
///
/// Each loop over it is a listener of its own, which ends with the loop or its task.
struct NetworkReachabilityChanges: AsyncSequence, Sendable {
    /// A host and its path.
    typealias Element = NetworkReachabilityChange

    /// The sequence never fails: trouble is the status unknown, and in the log.
    typealias Failure = Never

    private let listen: @Sendable (_ signal: @escaping @Sendable () -> Void) -> ChangeListener

    init(_ listen: @escaping @Sendable (_ signal: @escaping @Sendable () -> Void) -> ChangeListener) {
        self.listen = listen
    }

    /// Begins to listen; its first elements are what is so now.
    func makeAsyncIterator() -> Iterator {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = listen { continuation.yield() }
        continuation.onTermination = { _ in listener.end() }
        return Iterator(listener, signals.makeAsyncIterator())
    }

    /// Reads one loop's changes.
    struct Iterator: AsyncIteratorProtocol {
        private let listener: ChangeListener
        private var signals: AsyncStream<Void>.Iterator

        init(_ listener: ChangeListener, _ signals: AsyncStream<Void>.Iterator) {
            self.listener = listener
            self.signals = signals
        }

        /// The next change; nil when the task is cancelled.
        mutating func next() async -> NetworkReachabilityChange? {
            await next(isolation: #isolation)
        }

        /// The next change; nil when the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> NetworkReachabilityChange? {
            while !Task.isCancelled {
                var change: NetworkReachabilityChange?
                if listener.take({ change = $0 }) { return change }
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
            return nil
        }
    }
}
