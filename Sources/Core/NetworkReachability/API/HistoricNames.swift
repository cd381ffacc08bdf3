public import Dispatch
import LinuxSupport

// Names and behaviour of other libraries.

// MARK: - Alamofire 4

extension NetworkReachabilityManager {
    /// The status type under the nested name that Alamofire uses.
    public typealias NetworkReachabilityStatus = NetworkReachability.NetworkReachabilityStatus

    /// The connection type under the nested name that Alamofire 4 uses.
    public typealias ConnectionType = NetworkReachability.NetworkReachabilityStatus.ConnectionType

    /// The same as ``status``, with its Alamofire 4 name.
    public var networkReachabilityStatus: NetworkReachabilityStatus { status }

    /// The closure that is called when the flags change (Alamofire 4). Set it, then call ``startListening()``. It may
    /// be set or replaced at any time.
    @preconcurrency public var listener: Listener? {
        get { listening.state.withLock { $0.listener } }
        set {
            let previous = listening.state.withLock { state in
                defer { state.listener = newValue }
                return state.listener
            }
            withExtendedLifetime(previous) {}
        }
    }

    /// The queue on which ``listener`` is called. The default is the main queue. A new value applies from the next
    /// call.
    public var listenerQueue: DispatchQueue {
        get { listening.state.withLock { $0.queue } }
        set { listening.state.withLock { $0.queue = newValue } }
    }

    /// Starts calling ``listener`` on ``listenerQueue``, first with the current status and then whenever the flags
    /// change. If the manager is already listening, the previous listener ends first.
    ///
    /// - Returns: Always true. If the process is not permitted to use netlink, the listener receives
    ///   ``NetworkReachabilityStatus/unknown``, and the actual status as soon as netlink works.
    @discardableResult
    public func startListening() -> Bool {
        let listening = listening
        let calls = DeliveryQueue(.flags)
        let subscription = subscribe(.flags, settle: .immediate) { [weak listening] change, subscription in
            guard calls.put(change.path, since: change.noticed) else { return }
            listening?.deliver(calls, of: subscription)
        }
        listening.replaceSubscription(with: subscription)
        subscription.begin()
        return true
    }
}

// MARK: - Alamofire 5

extension NetworkReachabilityManager {
    /// The same as ``isReachableOnWWAN``, with its Alamofire 5 name.
    public var isReachableOnCellular: Bool { isReachableOnWWAN }

    /// The serial queue of the monitor, with its Alamofire name. There is one per network namespace. Blocks added to it
    /// run between the handling of two changes, and delay later changes.
    public var reachabilityQueue: DispatchQueue { record.monitor.queue }
}

extension NetworkReachabilityStatus.ConnectionType {
    /// The same as ``wwan``, with its Alamofire 5 name.
    public static var cellular: Self { .wwan }
}

// MARK: - AFNetworking

extension NetworkReachabilityManager {
    /// The current status as a short English text, with its AFNetworking name.
    public var localizedNetworkReachabilityStatusString: String { status.localizedDescription }
}

extension NetworkReachabilityStatus {
    /// The status as a short English text, as in AFNetworking.
    public var localizedDescription: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachable(.ethernetOrWiFi): "Reachable via Ethernet or Wi-Fi"
        case .reachable(.wwan): "Reachable via WWAN"
        }
    }
}

// MARK: - Apple

/// The same as ``NetworkReachabilityFlags``, with Apple's name.
public typealias SCNetworkReachabilityFlags = NetworkReachabilityFlags

extension NetworkPath {
    /// A Boolean value that indicates whether the path uses Low Data Mode, as in `NWPath.isConstrained`. Always false,
    /// because Linux has no Low Data Mode.
    public var isConstrained: Bool { false }
}
