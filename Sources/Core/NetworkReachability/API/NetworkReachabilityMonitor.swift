public import Dispatch
import LinuxSupport
import Netlink

/// Watches any number of hosts, and reports all changes in one place.
///
/// Each host has the same result as with a ``NetworkReachabilityManager``, and both share one monitor per network
/// namespace. Ten thousand hosts need two netlink sockets. After a change of a route, only the hosts whose addresses
/// the route covers are evaluated.
///
/// ```swift
/// let monitor = try NetworkReachabilityMonitor()
/// try monitor.insert("192.0.2.1")
/// try monitor.insert("example.org")
/// for await change in monitor.changes { print(change) }
/// ```
///
/// All methods and properties are thread-safe. Hosts can be inserted and removed at any time, in logarithmic time or
/// better.
public final class NetworkReachabilityMonitor: Sendable {
    private struct WeakListener {
        weak let listener: ChangeListener?
    }

    /// A host and its position in the order of insertion.
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

    /// Creates a monitor without hosts.
    ///
    /// - Throws: ``NetworkReachabilityError`` if the network namespace cannot be entered.
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
    /// The watched hosts, in the order of their insertion.
    public var hosts: [String] { inOrder.map(\.host) }

    private var inOrder: [(host: String, record: TargetRecord)] {
        state.withLock { $0.hosts }.sorted { $0.value.place < $1.value.place }.map { ($0.key, $0.value.record) }
    }

    /// The number of watched hosts.
    public var count: Int { state.withLock { $0.hosts.count } }

    /// Checks the syntax of a host without watching it.
    ///
    /// - Throws: ``NetworkReachabilityError`` if `host` is neither a host name nor an address.
    public func check(_ host: String) throws(NetworkReachabilityError) {
        _ = try Target(host: host, options: options)
    }

    /// Starts to watch a host, given by its name or by an address literal. Listeners are notified of its state soon
    /// afterwards.
    ///
    /// - Returns: False if the host was already watched.
    /// - Throws: ``NetworkReachabilityError`` if `host` is neither a host name nor an address.
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
        for listener in listeners { updateSubscription(of: listener, to: host, record) }
        return true
    }

    /// Stops watching a host. A change whose delivery has begun may still be reported.
    ///
    /// - Returns: False if the host was not watched.
    @discardableResult
    public func remove(_ host: String) -> Bool {
        let (record, listeners) = state.withLock { state in
            (state.hosts.removeValue(forKey: host)?.record, state.listeners.compactMap(\.listener))
        }
        guard let record else { return false }
        for listener in listeners { updateSubscription(of: listener, to: host, nil) }
        return withExtendedLifetime(record) { true }
    }

    /// Replaces the list of watched hosts. Hosts that are not in `hosts` are removed, then the missing ones are
    /// inserted in the order given. Hosts in both lists are not affected.
    ///
    /// - Throws: ``NetworkReachabilityError`` if an element is neither a host name nor an address. The list is then
    ///   unchanged.
    public func setHosts(_ hosts: some Sequence<String>) throws(NetworkReachabilityError) {
        let hosts = Array(hosts)
        for host in hosts { try check(host) }
        let wanted = Set(hosts)
        for host in self.hosts where !wanted.contains(host) { remove(host) }
        for host in hosts { try insert(host) }
    }

    /// Returns the current path of packets to a host, or nil if the host is not watched. Queries the kernel on the
    /// calling thread. May wait for the name service, except inside a Swift task, as
    /// ``NetworkReachabilityManager/path`` does.
    public func path(to host: String) -> NetworkPath? {
        guard let record = state.withLock({ $0.hosts[host]?.record }) else { return nil }
        return monitor.path(to: record, waitingForName: CurrentTask.exists ? .zero : options.nameResolutionWait)
    }

    /// The statistics of this monitor and of all managers in the same network namespace.
    public var statistics: MonitorStatistics { monitor.statistics }
}

// MARK: - Listeners

extension NetworkReachabilityMonitor {
    /// Adds a listener of all hosts. It is first called with the current state of each host, in the order of ``hosts``,
    /// and then whenever a part of a path that is contained in `interest` changes.
    ///
    /// The order of the changes of one host is preserved. If the listener or its queue is slow, only the latest path of
    /// each host is kept and intermediate ones are skipped. The number of waiting changes therefore never exceeds the
    /// number of hosts.
    ///
    /// - Parameters:
    ///   - interest: The parts of a path whose changes are reported.
    ///   - policy: The policy that decides whether a change is reported at once or after it has lasted for a time.
    ///   - queue: The serial queue on which the listener is called. If nil, the monitor calls the listener directly,
    ///     which delays all other listeners of the network namespace until the call returns.
    ///   - listener: A closure that receives the host and its path.
    /// - Returns: A token. The listener ends when the token is cancelled or released. It does not need the monitor to
    ///   stay alive.
    public func addListener(
        for interest: NetworkReachabilityInterest = .status,
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue? = .main,
        _ listener: @escaping @Sendable (NetworkReachabilityChange) -> Void
    ) -> NetworkReachabilityToken {
        let delivery: ChangeListener.Delivery = queue.map { .queue($0, listener) } ?? .direct(listener)
        let changes = ChangeListener(interest, policy, delivery)
        add(changes)
        return NetworkReachabilityToken(Cancellation { changes.end() })
    }

    /// The current state of each host, followed by every change of a status. The same as ``changes(for:settle:)`` with
    /// default arguments.
    public var changes: some AsyncSequence<NetworkReachabilityChange, Never> & Sendable { changes(for: .status) }

    /// Returns a sequence of the current state of each host, followed by the changes.
    ///
    /// Each loop is an independent listener, which ends with the loop or its task. A slow reader receives the latest
    /// path of each host.
    ///
    /// - Parameters:
    ///   - interest: The parts of a path whose changes are reported.
    ///   - policy: The policy that decides whether a change is reported at once or after it has lasted for a time.
    public func changes(
        for interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy = .immediate
    ) -> some AsyncSequence<NetworkReachabilityChange, Never> & Sendable {
        NetworkReachabilityUpdates<NetworkReachabilityChange> { [self] signal in
            let listener = ChangeListener(interest, policy, .signal(signal))
            add(listener)
            return ({ listener.take() }, Cancellation { listener.end() })
        }
    }

    private func add(_ listener: ChangeListener) {
        state.withLock { state in
            state.listeners.removeAll { $0.listener == nil }
            state.listeners.append(WeakListener(listener: listener))
        }
        // Runs on the monitor's queue, so that all hosts begin together and in the order of `hosts`.
        monitor.enqueue { [self] in
            for (host, record) in inOrder { updateSubscription(of: listener, to: host, record) }
        }
    }

    /// Subscribes a listener to a host, or unsubscribes it if the record is nil. Other threads may insert or remove the
    /// same host at the same time. The loop ends when the subscription agrees with the list of hosts, so the last
    /// thread establishes the correct state.
    private func updateSubscription(of listener: ChangeListener, to host: String, _ record: TargetRecord?) {
        var record = record
        while true {
            if let record { listener.follow(host, record) } else { listener.leave(host) }
            let current = state.withLock { $0.hosts[host]?.record }
            if current === record { return }
            record = current
        }
    }
}

/// A change of one of the hosts of a ``NetworkReachabilityMonitor``.
public struct NetworkReachabilityChange: Hashable, Sendable {
    /// The host, as it was passed to the monitor.
    public let host: String

    /// The current path of packets to the host, or the reason why there is no path.
    public let path: NetworkPath

    /// The current status of the host.
    public var status: NetworkReachabilityStatus { path.status }
}

extension NetworkReachabilityChange: CustomStringConvertible {
    /// The host and the path, for example `example.org: not reachable, no carrier, interface eth0`. Control characters
    /// are escaped.
    public var description: String { "\(host.printable): \(path)" }
}
