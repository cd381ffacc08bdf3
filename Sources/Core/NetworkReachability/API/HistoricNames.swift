public import Dispatch
import LinuxSupport

// What other libraries call otherwise, or do in a way of their own.

// MARK: - Alamofire 4

extension NetworkReachabilityManager {
    /// The status type, by the name Alamofire nests.
    public typealias NetworkReachabilityStatus = NetworkReachability.NetworkReachabilityStatus

    /// What carries the packets, by the name Alamofire 4 nests.
    public typealias ConnectionType = NetworkReachability.NetworkReachabilityStatus.ConnectionType

    /// The same as ``status``, by its Alamofire 4 name.
    public var networkReachabilityStatus: NetworkReachabilityStatus { status }

    /// What is called when the flags change, in Alamofire 4's way: set it, then call ``startListening()``. It may be set and
    /// replaced at any time.
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

    /// The queue ``listener`` is called on; the main queue by default. A change counts from the next call on.
    public var listenerQueue: DispatchQueue {
        get { listening.state.withLock { $0.queue } }
        set { listening.state.withLock { $0.queue = newValue } }
    }

    /// Begins to call ``listener`` on ``listenerQueue``: first with the current status, then exactly when the flags change.
    /// Listening that was under way ends before.
    ///
    /// - Returns: Always true: where netlink is denied, the listener hears ``NetworkReachabilityStatus/unknown`` and, when it
    ///   works at last, the status.
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
    /// The same as ``isReachableOnWWAN``, by its Alamofire 5 name.
    public var isReachableOnCellular: Bool { isReachableOnWWAN }

    /// The queue on which changes are noticed and notified, by its Alamofire name: one serial queue for each network namespace. Work that
    /// is put on it runs between two changes, and delays those that follow.
    public var reachabilityQueue: DispatchQueue { record.monitor.queue }
}

extension NetworkReachabilityStatus.ConnectionType {
    /// Alamofire 5's name for ``wwan``.
    public static var cellular: Self { .wwan }
}

// MARK: - AFNetworking

extension NetworkReachabilityManager {
    /// The status now as a short text for people, by its AFNetworking name.
    public var localizedNetworkReachabilityStatusString: String { status.localizedDescription }
}

extension NetworkReachabilityStatus {
    /// A short text for people, in AFNetworking's words.
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

/// Apple's name of ``NetworkReachabilityFlags``, for code that is written against it.
public typealias SCNetworkReachabilityFlags = NetworkReachabilityFlags

extension NetworkPath {
    /// Whether the path uses Low Data Mode, as `NWPath.isConstrained`. Always false: Linux has no Low Data Mode.
    public var isConstrained: Bool { false }
}
