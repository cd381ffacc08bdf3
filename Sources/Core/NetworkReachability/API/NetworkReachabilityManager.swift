public import Dispatch
public import Glibc
import LinuxSupport
import Logging
import Netlink

/// Determines whether the network at large, a host or an address is reachable, and calls listeners when that changes.
///
/// It has the interface of Alamofire's class of this name, versions 4 and 5, for Linux. Its answer is what the kernel would
/// do with packets: it looks up the route to every address (RTM_GETROUTE, `rtnetlink(7)`), and checks source address and
/// carrier. It cannot know what
/// happens beyond this machine: a dead router with the cable in counts as reachable.
///
/// ```swift
/// let manager = NetworkReachabilityManager(host: "example.org")
/// manager?.startListening { status in print(status) }
/// ```
///
/// All of it may be used from any thread. Managers of the same namespace share one monitor: two netlink sockets in all.
/// Letting go of a manager ends its listeners.
public final class NetworkReachabilityManager: Sendable {
    /// A closure that is called on its queue when the status changes.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// A manager of the network at large that lives as long as the process. It is never nil; Alamofire's is optional.
    public static let `default`: NetworkReachabilityManager? = NetworkReachabilityManager()

    package let record: TargetRecord
    package let options: NetworkReachabilityOptions
    let listening = Listening()
    /// The failure that was logged last, until a question is answered.
    private let loggedFailure: Locked<NetlinkError?> = Locked(nil)

    package init(_ target: Target, monitor: PathMonitor, options: NetworkReachabilityOptions) {
        record = monitor.record(of: target)
        self.options = options
    }

    deinit {
        stopListening()
    }
}

// MARK: - The state now

extension NetworkReachabilityManager {
    /// The current path of packets to the target, or the reason that there is none.
    ///
    /// The kernel is asked each time, on the calling thread: some ten microseconds, or as long as it is busy changing its
    /// configuration. The first question about a host name waits for the name service, at most
    /// ``NetworkReachabilityOptions/nameResolutionWait``; not inside a task, whose thread belongs to all tasks: there the status is
    /// unknown until the name has been resolved. ``currentPath()`` waits without holding a thread.
    public var path: NetworkPath {
        path(waitingForName: CurrentTask.exists ? .zero : options.nameResolutionWait)
    }

    /// The current path of packets to the target, or the reason that there is none. It waits for the name of a host, at most
    /// ``NetworkReachabilityOptions/nameResolutionWait``, and holds no thread meanwhile.
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

    /// The same, with a wait for the name service of its own; none where it is not above zero.
    package func path(waitingForName limit: Duration) -> NetworkPath {
        let path = record.monitor.path(to: record, waitingForName: limit)
        if let logger = options.logger {
            logger.trace("asked", metadata: ["target": "\(record.target)", "path": "\(path)"])
            logFailure(of: path, logger)
        }
        return path
    }

    /// The path of the last evaluation while a listener follows the target and the kernel has announced no change since; else nil.
    package var knownPath: NetworkPath? { record.monitor.knownPath(to: record) }

    /// Logs why the kernel cannot be asked: once for each failure, not with each question.
    private func logFailure(of path: NetworkPath, _ logger: Logger) {
        let failure = path.reason == .netlinkUnavailable ? record.monitor.failure : nil
        let isNew = loggedFailure.withLock { logged in
            defer { logged = failure }
            return logged != failure
        }
        guard isNew, let failure else { return }
        logger.warning("status is unknown", metadata: ["error": "\(failure)"])
    }

    /// The current status. Queries the kernel like ``path``; no listener is necessary.
    public var status: NetworkReachabilityStatus { path.status }

    /// The current flags in Apple's terms; nil while the status is unknown. Queries the kernel like ``path``.
    public var flags: NetworkReachabilityFlags? { path.flags }

    /// Whether the target is reachable now.
    public var isReachable: Bool { status.isReachable }

    /// Whether the target is reachable now over any interface except a wireless wide area network.
    public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Whether the target is reachable now over a wireless wide area network.
    public var isReachableOnWWAN: Bool { status == .reachable(.wwan) }

    /// Whether names can be resolved as far as this machine knows: name servers are configured, and the kernel has a path to one of
    /// them. Asks like ``path``. As `NWPath.supportsDNS`.
    public var supportsDNS: Bool { record.monitor.reachesNameServer() }

    /// How often the status changed within the last ``NetworkPath/flappingWindow``, counted while somebody listens to the
    /// target; at most 100. With ``NetworkPath/flappingChanges`` and more the target flaps.
    public var flapCount: Int { record.monitor.flapCount(of: record) }

    /// The statistics of the monitor that serves this manager. All managers of a network namespace share one monitor, so
    /// they have the same statistics. Reading them is fast, sends no query and is thread-safe.
    public var statistics: MonitorStatistics { record.monitor.statistics }
}

extension NetworkReachabilityManager {
    /// Whether the manager listens for changes.
    public var isListening: Bool { listening.state.withLock { $0.subscription != nil } }

    /// Begins to call `listener` on `queue`, in Alamofire 5's way: first with the current status, then whenever the status
    /// changes. Listening that was under way ends before; ``listener`` is not called by this.
    ///
    /// - Parameters:
    ///   - queue: The queue of the listener. A serial queue keeps the calls in order.
    ///   - listener: A closure that is called with the status. ``stopListening()`` releases it.
    /// - Returns: Always true, see ``startListening()``.
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

    /// Ends what `startListening` began. It may be called at any time, also inside the listener, and never waits.
    ///
    /// Called on the listener's own serial queue, no call of the listener follows. Called elsewhere, a call that is just
    /// starting may still finish.
    public func stopListening() {
        listening.replaceSubscription(with: nil)
    }

    /// Adds a listener beside all others, in AFNetworking's way: called on `queue` first with the current status, then exactly
    /// when the flags change, until the token is let go or cancelled. It does not depend on `startListening`.
    ///
    /// - Parameters:
    ///   - policy: Whether a change is reported at once, or only after it has lasted.
    ///   - queue: The queue of the listener. A serial queue keeps the calls in order.
    ///   - listener: A closure that is called with the status.
    /// - Returns: What keeps the listener alive.
    public func addListener(
        settle policy: SettlePolicy = .immediate,
        onQueue queue: DispatchQueue = .main,
        _ listener: @escaping Listener
    ) -> NetworkReachabilityToken {
        addPathListener(for: .flags, settle: policy, onQueue: queue) { listener($0.status) }
    }

    /// Adds a listener that is called with the whole path, with its reason: first as it is now, then whenever the part of it changes
    /// that the listener is interested in.
    ///
    /// - Parameters:
    ///   - interest: What counts as a change.
    ///   - policy: Whether a change is reported at once, or only after it has lasted.
    ///   - queue: Where the listener is called. With nil it is called at once by the monitor itself, which saves a wake-up
    ///     and holds every other listener up until it returns; what changes meanwhile is notified as one change.
    ///   - listener: A closure that is called with the path.
    /// - Returns: What keeps the listener alive.
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

    /// A subscription that calls a listener on a queue, or with nil at once; not begun yet.
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

    /// A subscription to the target, not begun yet. Who hears of the status alone hears first what ``status`` says.
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

/// Keeps a listener alive: letting go of it, or cancelling it, is the end of the listener.
public final class NetworkReachabilityToken: Sendable {
    private let cancellation: Cancellation

    init(_ cancellation: Cancellation) {
        self.cancellation = cancellation
    }

    deinit {
        cancel()
    }

    /// Ends the listener, at any time, also inside of it; never waits. Called on the listener's own serial queue, no call
    /// follows.
    public func cancel() {
        cancellation.cancel()
    }
}

extension NetworkReachabilityManager {
    /// A manager of the network at large: reachable while the kernel has a path to most of the internet.
    ///
    /// It is never nil; it is failable because Alamofire's is. Where netlink is denied the status is unknown until it works.
    public convenience init?() {
        try? self.init(options: NetworkReachabilityOptions())
    }

    /// A manager of a host, given by name or by address literal (IPv4, or IPv6 with a zone where it is link-local).
    ///
    /// A URL, a name with a port, an address in brackets and the empty string are nil; ``init(host:options:)`` says why.
    /// `0.0.0.0` and `::` stand for the network at large, as with Apple's function.
    public convenience init?(host: String) {
        try? self.init(host: host, options: NetworkReachabilityOptions())
    }

    /// A manager of an address; nil for a link-local IPv6 address without a zone.
    ///
    /// `0.0.0.0` and `::` stand for the network at large, as with Apple's function.
    public convenience init?(address: IPAddress) {
        try? self.init(address: address, options: NetworkReachabilityOptions())
    }

    /// A manager of a socket address of any family; nil when that is neither IPv4 nor IPv6. The port does not matter.
    public convenience init?(address: sockaddr_storage) {
        guard let address = IPAddress(address) else { return nil }
        self.init(address: address)
    }

    /// A manager of an IPv4 socket address. The port does not matter.
    public convenience init?(address: sockaddr_in) {
        self.init(address: IPAddress(address))
    }

    /// A manager of an IPv6 socket address; nil when it is link-local and names no scope. The port does not matter.
    public convenience init?(address: sockaddr_in6) {
        self.init(address: IPAddress(address))
    }

    /// A manager of the network at large.
    ///
    /// - Throws: ``NetworkReachabilityError`` when a namespace cannot be entered or no addresses are given. Netlink denied
    ///   by a sandbox is no error: the status is unknown until it works.
    public convenience init(options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(options: options), options: options)
    }

    /// A manager of a host, given by name or by address literal.
    ///
    /// - Throws: ``NetworkReachabilityError`` when `host` is neither, or when a namespace cannot be entered.
    public convenience init(host: String, options: NetworkReachabilityOptions) throws(NetworkReachabilityError) {
        try self.init(Target(host: host, options: options), options: options)
    }

    /// A manager of an address.
    ///
    /// - Throws: ``NetworkReachabilityError`` when it is link-local IPv6 without a zone, or when a namespace cannot be
    ///   entered.
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
