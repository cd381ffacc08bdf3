/// Whether a target can be reached, and over what.
public enum NetworkReachabilityStatus: Hashable, Sendable {
    /// What carries the packets, as far as a program may care.
    public enum ConnectionType: String, Hashable, Sendable {
        /// Ethernet, Wi-Fi, and everything else that is not a wireless wide area network.
        case ethernetOrWiFi
        /// A wireless wide area network: a modem, which is often slow, metered or both.
        case wwan
    }

    /// Nothing is known: the kernel denies netlink, a name has not been resolved yet, or the network namespace is gone.
    /// ``NetworkPath/reason`` says which.
    case unknown

    /// Packets to the target cannot leave this machine, or cannot be answered, or the name does not exist.
    case notReachable

    /// The kernel would send packets to the target, with a source address, over an interface that has carrier.
    case reachable(ConnectionType)

    /// The status that `flags` stand for, by Alamofire's rules: a connection that is required counts as reachable only
    /// if it is made by itself, without intervention. Nil is ``unknown``; the empty set is ``notReachable``.
    public init(_ flags: NetworkReachabilityFlags?) {
        guard let flags else {
            self = .unknown
            return
        }
        guard flags.isActuallyReachable else {
            self = .notReachable
            return
        }
        self = .reachable(flags.contains(.isWWAN) ? .wwan : .ethernetOrWiFi)
    }

    /// Whether this is ``reachable(_:)``, over anything.
    public var isReachable: Bool {
        switch self {
        case .reachable: true
        case .unknown, .notReachable: false
        }
    }
}

extension NetworkReachabilityStatus: CustomStringConvertible {
    /// A short text for logs and terminals.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not reachable"
        case .reachable(.ethernetOrWiFi): "reachable (ethernet or Wi-Fi)"
        case .reachable(.wwan): "reachable (WWAN)"
        }
    }
}
