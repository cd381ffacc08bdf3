import LinuxSupport
import Logging
import Netlink

/// Tells whether the network at large, a host or an address can be reached, and calls listeners when that changes.
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
    /// What is called when the status changes, on the queue that was chosen.
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
    /// The path packets to the target take now, or why there is none.
    ///
    /// The kernel is asked each time, on the calling thread: some ten microseconds, or as long as it is busy changing its
    /// configuration. The first question about a host name waits for the name service, at most
    /// ``NetworkReachabilityOptions/nameResolutionWait``; not inside a task, whose thread belongs to all tasks: there the status is
    /// unknown until the name has been resolved. ``currentPath()`` waits without holding a thread.
    public var path: NetworkPath {
        path(waitingForName: CurrentTask.exists ? .zero : options.nameResolutionWait)
    }

    /// The path packets to the target take now, or why there is none. It waits for the name of a host, at most
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

    /// Whether the target can be reached now, and over what. Asks like ``path``; listening is not needed.
    public var status: NetworkReachabilityStatus { path.status }

    /// What is known of the path now, in Apple's terms; nil while nothing is known. Asks like ``path``.
    public var flags: NetworkReachabilityFlags? { path.flags }

    /// Whether the target can be reached now, over anything.
    public var isReachable: Bool { status.isReachable }

    /// Whether the target can be reached now over ethernet, Wi-Fi or anything else but a wireless wide area network.
    public var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// Whether the target can be reached now over a wireless wide area network.
    public var isReachableOnWWAN: Bool { status == .reachable(.wwan) }

    /// Whether names can be resolved as far as this machine knows: name servers are configured, and the kernel has a path to one of
    /// them. Asks like ``path``. As `NWPath.supportsDNS`.
    public var supportsDNS: Bool { record.monitor.reachesNameServer() }

    /// How often the status changed within the last ``NetworkPath/flappingWindow``, counted while somebody listens to the
    /// target; at most 100. With ``NetworkPath/flappingChanges`` and more the target flaps.
    public var flapCount: Int { record.monitor.flapCount(of: record) }

    /// What the monitor that serves this manager has done so far. All managers of a network namespace share one monitor, so
    /// they all tell the same. Reading it takes a moment, asks the kernel nothing, and may be done from any thread.
    public var statistics: MonitorStatistics { record.monitor.statistics }
}
