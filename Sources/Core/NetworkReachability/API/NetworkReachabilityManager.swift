public import Dispatch
public import Glibc
import LinuxSupport
import Logging
import Netlink

/// Determines whether a host, an address or the network in general is reachable, and notifies listeners of changes.
///
/// The class has the interface of Alamofire's class of this name, versions 4 and 5. The result comes from the Linux
/// kernel: for each address the manager looks up the route (RTM_GETROUTE, `rtnetlink(7)`), and checks the source
/// address and the carrier of the interface. No packets are sent, so failures beyond this machine are not detected. For
/// example, a failed router behind a connected cable counts as reachable.
///
/// ```swift
/// let manager = NetworkReachabilityManager(host: "example.org")
/// manager?.startListening { status in print(status) }
/// ```
///
/// All methods and properties are thread-safe. The managers of a network namespace share one monitor with two netlink
/// sockets. Releasing a manager ends the calls of its listener; the listeners of ``addListener(settle:onQueue:_:)`` and
/// ``addPathListener(for:settle:onQueue:_:)`` belong to their tokens.
public final class NetworkReachabilityManager: Sendable {
    /// A closure that is called on its queue when the status changes.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// A shared manager of general reachability. It exists until the process ends. Never nil; the type is optional as
    /// in Alamofire.
    public static let `default`: NetworkReachabilityManager? = NetworkReachabilityManager()

    package let record: TargetRecord
    package let options: NetworkReachabilityOptions
    let listening = AlamofireListenerState()
    /// The last failure that was logged. Nil after a query has succeeded.
    private let loggedFailure: Locked<NetlinkError?> = Locked(nil)

    package init(_ target: Target, monitor: PathMonitor, options: NetworkReachabilityOptions) {
        record = monitor.record(of: target)
        self.options = options
    }

    deinit {
        stopListening()
    }
}

// MARK: - The current state

extension NetworkReachabilityManager {
    /// The current path of packets to the target, or the reason why there is no path.
    ///
    /// Each access queries the kernel on the calling thread. A query takes about ten microseconds, or longer while the
    /// kernel changes its network configuration.
    ///
    /// The first query for a host name waits for the name service, at most
    /// ``NetworkReachabilityOptions/nameResolutionWait``. Inside a Swift task it does not wait, because a blocked task
    /// would occupy a thread of the concurrency pool. The status is then unknown until the name is resolved.
    /// ``currentPath()`` waits without blocking a thread.
    public var path: NetworkPath {
        path(waitingForName: CurrentTask.exists ? .zero : options.nameResolutionWait)
    }

    /// Returns the current path of packets to the target, or the reason why there is no path.
    ///
    /// For a host name the function suspends until the name is resolved, at most
    /// ``NetworkReachabilityOptions/nameResolutionWait``. It blocks no thread.
    public func currentPath() async -> NetworkPath {
        await withCheckedContinuation { continuation in
            let subscription = Subscription(
                to: record,
                interest: .path,
                settle: .immediate,
                waitingForName: options.nameResolutionWait
            ) { change, subscription in
                guard !subscription.hasEnded else { return }
                subscription.end()
                continuation.resume(returning: change.path)
            }
            subscription.begin()
        }
    }

    /// Returns the current path. Waits for the name service at most `limit`; does not wait if `limit` is zero or
    /// negative.
    package func path(waitingForName limit: Duration) -> NetworkPath {
        let path = record.monitor.path(to: record, waitingForName: limit)
        if let logger = options.logger {
            logger.trace("path queried", metadata: ["target": "\(record.target)", "path": "\(path)"])
            logFailure(of: path, logger)
        }
        return path
    }

    /// The path of the last evaluation if a listener is subscribed to the target and the kernel has reported no change
    /// since then; otherwise nil.
    package var knownPath: NetworkPath? { record.monitor.knownPath(to: record) }

    /// Logs the reason why the kernel cannot be queried, once per failure instead of once per query.
    private func logFailure(of path: NetworkPath, _ logger: Logger) {
        let failure = path.reason == .netlinkUnavailable ? record.monitor.failure : nil
        let isNew = loggedFailure.withLock { logged in
            defer { logged = failure }
            return logged != failure
        }
        guard isNew, let failure else { return }
        logger.warning("status is unknown", metadata: ["error": "\(failure)"])
    }

    /// The current status. Queries the kernel as ``path`` does. Needs no listener.
    public var status: NetworkReachabilityStatus { path.status }

    /// The current flags in Apple's terms; nil while the status is unknown. Queries the kernel as ``path`` does.
    public var flags: NetworkReachabilityFlags? { path.flags }

    /// A Boolean value that indicates whether the target is reachable now. Queries the kernel as ``path`` does.
    public var isReachable: Bool { status.isReachable }

    /// A Boolean value that indicates whether the target is reachable now over an interface other than a wireless wide
    /// area network.
    public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// A Boolean value that indicates whether the target is reachable now over a wireless wide area network.
    public var isReachableOnWWAN: Bool { status == .reachable(.wwan) }

    /// A Boolean value that indicates whether this machine can resolve names: name servers are configured, and the
    /// kernel has a path to at least one of them. Queries the kernel as ``path`` does, and sends no packet to a name
    /// server. Corresponds to `NWPath.supportsDNS`.
    public var supportsDNS: Bool { record.monitor.reachesNameServer() }

    /// The number of status changes within the last ``NetworkPath/flappingWindow``, at most 100. Changes are counted
    /// only while the target has a listener. The target flaps if the number reaches ``NetworkPath/flappingChanges``.
    public var flapCount: Int { record.monitor.flapCount(of: record) }

    /// The statistics of the monitor that serves this manager. All managers of a network namespace share one monitor
    /// and therefore have the same statistics. Reading them is fast, sends no query and is thread-safe.
    public var statistics: MonitorStatistics { record.monitor.statistics }
}

extension NetworkReachabilityManager {
    /// A Boolean value that indicates whether a listener of ``startListening(onQueue:onUpdatePerforming:)`` or
    /// ``startListening()`` is active.
    public var isListening: Bool { listening.state.withLock { $0.subscription != nil } }

    /// Starts calling `listener` on `queue`, first with the current status and then whenever the status changes
    /// (Alamofire 5).
    ///
    /// If the manager is already listening, the previous listener ends first. This method does not call the property
    /// ``listener``.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the listener is called. A serial queue preserves the order of the calls.
    ///   - listener: A closure that receives the status. ``stopListening()`` releases it.
    /// - Returns: Always true, as for ``startListening()``.
    @preconcurrency @discardableResult
    public func startListening(
        onQueue queue: DispatchQueue = .main,
        onUpdatePerforming listener: @escaping Listener
    ) -> Bool {
        let subscription = subscribe(.status, onQueue: queue) { listener($0.status) }
        listening.replaceSubscription(with: subscription)
        subscription.begin()
        return true
    }

    /// Ends the calls that ``startListening(onQueue:onUpdatePerforming:)`` or ``startListening()`` started. Never
    /// waits, and may be called at any time, also inside the listener.
    ///
    /// If this method is called on the listener's serial queue, no further call follows. On another thread, a call that
    /// is about to start may still run.
    public func stopListening() {
        listening.replaceSubscription(with: nil)
    }

    /// Adds a listener that is called on `queue`, first with the current status and then whenever the flags change
    /// (AFNetworking).
    ///
    /// Any number of listeners can be added. They do not depend on `startListening`, nor on the lifetime of the
    /// manager.
    ///
    /// - Parameters:
    ///   - policy: The policy that decides whether a change is reported at once or after it has lasted for a time.
    ///   - queue: The queue on which the listener is called. A serial queue preserves the order of the calls.
    ///   - listener: A closure that receives the status.
    /// - Returns: A token. The listener ends when the token is cancelled or released.
    public func addListener(
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue = .main,
        _ listener: @escaping Listener
    ) -> NetworkReachabilityToken {
        addPathListener(for: .flags, settle: policy, onQueue: queue) { listener($0.status) }
    }

    /// Adds a listener that is called with the whole path, first with the current one and then whenever a part that is
    /// contained in `interest` changes.
    ///
    /// - Parameters:
    ///   - interest: The parts of the path whose changes are reported.
    ///   - policy: The policy that decides whether a change is reported at once or after it has lasted for a time.
    ///   - queue: The queue on which the listener is called. If nil, the monitor calls the listener directly. This
    ///     saves a thread wake-up, but delays all other listeners of the network namespace until the call returns.
    ///     Changes during the call are reported as one change.
    ///   - listener: A closure that receives the path.
    /// - Returns: A token. The listener ends when the token is cancelled or released.
    public func addPathListener(
        for interest: NetworkReachabilityInterest = .path,
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue? = .main,
        _ listener: @escaping @Sendable (NetworkPath) -> Void
    ) -> NetworkReachabilityToken {
        let subscription = subscribe(interest, settle: policy, onQueue: queue, listener)
        subscription.begin()
        return NetworkReachabilityToken(Cancellation { subscription.end() })
    }

    /// Returns a subscription that calls `listener` on `queue`, or directly if the queue is nil. The subscription has
    /// not begun.
    private func subscribe(
        _ interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue?,
        _ listener: @escaping @Sendable (NetworkPath) -> Void
    ) -> Subscription {
        let calls = DeliveryQueue(interest)
        return subscribe(interest, settle: policy) { change, subscription in
            guard let queue else { return subscription.call(since: change.noticed) { listener(change.path) } }
            guard calls.put(change.path, since: change.noticed) else { return }
            queue.async { [weak subscription] in
                guard let call = calls.take(), let subscription, !subscription.hasEnded else { return }
                subscription.call(since: call.noticed) { listener(call.path) }
            }
        }
    }

    /// Returns a subscription to the target that has not begun. If only the status or the flags are of interest, the
    /// first notification waits for the name service, as ``status`` does.
    func subscribe(
        _ interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy,
        _ deliver: @escaping Subscription.Delivery
    ) -> Subscription {
        Subscription(
            to: record,
            interest: interest,
            settle: policy,
            waitingForName: interest.isOfStatus ? options.nameResolutionWait : .zero,
            deliver: deliver
        )
    }
}

/// A token that keeps a listener alive. The listener ends when the token is cancelled or released.
public final class NetworkReachabilityToken: Sendable {
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) {
        self.cancellation = cancellation
    }

    deinit {
        cancel()
    }

    /// Ends the listener. Never waits, and may be called at any time, also inside the listener. If it is called on the
    /// listener's serial queue, no further call follows.
    public func cancel() {
        cancellation.cancel()
    }
}

extension NetworkReachabilityManager {
    /// Creates a manager of general reachability. The status is reachable if the kernel has a path to the majority of
    /// ``NetworkReachabilityOptions/addressesAtLarge`` of one address family.
    ///
    /// The result is never nil; the initializer is failable as in Alamofire. If the process is not permitted to use
    /// netlink, the status is unknown until netlink works.
    public convenience init?() {
        try? self.init(options: NetworkReachabilityOptions())
    }

    /// Creates a manager of a host, given by its name or by an address literal (IPv4, or IPv6 with a zone if it is
    /// link-local).
    ///
    /// The addresses `0.0.0.0` and `::` select general reachability, as in Apple's API.
    ///
    /// The result is nil for a URL, a name with a port, an address in brackets and an empty string.
    /// ``init(host:options:)`` throws the reason.
    public convenience init?(host: String) {
        try? self.init(host: host, options: NetworkReachabilityOptions())
    }

    /// Creates a manager of an address. The result is nil for a link-local IPv6 address without a zone.
    ///
    /// The addresses `0.0.0.0` and `::` select general reachability, as in Apple's API.
    public convenience init?(address: IPAddress) {
        try? self.init(address: address, options: NetworkReachabilityOptions())
    }

    /// Creates a manager of a socket address of any family. The port is ignored. The result is nil if the family is
    /// neither IPv4 nor IPv6, or if the address is link-local IPv6 without a scope.
    public convenience init?(address: sockaddr_storage) {
        guard let address = IPAddress(address) else { return nil }
        self.init(address: address)
    }

    /// Creates a manager of an IPv4 socket address. The port is ignored.
    public convenience init?(address: sockaddr_in) {
        self.init(address: IPAddress(address))
    }

    /// Creates a manager of an IPv6 socket address. The port is ignored. The result is nil for a link-local address
    /// without a scope.
    public convenience init?(address: sockaddr_in6) {
        self.init(address: IPAddress(address))
    }

    /// Creates a manager of general reachability.
    ///
    /// - Throws: ``NetworkReachabilityError`` if the network namespace cannot be entered, or if
    ///   ``NetworkReachabilityOptions/addressesAtLarge`` is empty. A sandbox that denies netlink is not an error. The
    ///   status is then unknown until netlink works.
    public convenience init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(options: options), options: options)
    }

    /// Creates a manager of a host, given by its name or by an address literal.
    ///
    /// - Throws: ``NetworkReachabilityError`` if `host` is neither a host name nor an address, or if the network
    ///   namespace cannot be entered.
    public convenience init(host: String, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(host: host, options: options), options: options)
    }

    /// Creates a manager of an address.
    ///
    /// - Throws: ``NetworkReachabilityError`` if the address is link-local IPv6 without a zone, or if the network
    ///   namespace cannot be entered.
    public convenience init(address: IPAddress, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(address: address, options: options), options: options)
    }

    private convenience init(
        _ target: Target,
        options: NetworkReachabilityOptions
    ) throws(NetworkReachabilityError) {
        let monitor = try MonitorRegistry.monitor(of: options)
        self.init(target, monitor: monitor, options: options)
    }
}
