/// The reachability of a target, with the kind of interface.
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

/// The properties of the path to a target in the terms of Apple's `SCNetworkReachabilityFlags`: same names, same raw
/// values, same meaning.
///
/// On Linux `interventionRequired`, `connectionOnTraffic` and `connectionOnDemand` are never set, for the kernel does
/// not know of them; they exist so that code which reads them goes on working.
public struct NetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    /// The bits, as Apple numbers them.
    public let rawValue: UInt32

    /// Takes any bits, known or not.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The interface is a ppp link (ARPHRD_PPP).
    public static let transientConnection = NetworkReachabilityFlags(rawValue: 1 << 0)

    /// The kernel has a route to the target, with a source address and an interface that has carrier. Also set together with
    /// ``connectionRequired``.
    public static let reachable = NetworkReachabilityFlags(rawValue: 1 << 1)

    /// There is a route, but a connection must be made first: the interface is dormant (RFC 2863), for example Wi-Fi that
    /// is associated and not yet authorised.
    public static let connectionRequired = NetworkReachabilityFlags(rawValue: 1 << 2)

    /// Traffic to the target will make the connection. Never set on Linux.
    public static let connectionOnTraffic = NetworkReachabilityFlags(rawValue: 1 << 3)

    /// The user must act before a connection can be made. Never set on Linux.
    public static let interventionRequired = NetworkReachabilityFlags(rawValue: 1 << 4)

    /// The connection is made on demand. Never set on Linux.
    public static let connectionOnDemand = NetworkReachabilityFlags(rawValue: 1 << 5)

    /// The target is an address of this machine (RTN_LOCAL).
    public static let isLocalAddress = NetworkReachabilityFlags(rawValue: 1 << 16)

    /// Packets go to the target without a gateway. Not set for addresses of this machine.
    public static let isDirect = NetworkReachabilityFlags(rawValue: 1 << 17)

    /// The interface is a modem (cellular), or runs over one as far as its links tell.
    public static let isWWAN = NetworkReachabilityFlags(rawValue: 1 << 18)

    /// Apple's other name for ``connectionOnTraffic``.
    public static let connectionAutomatic = connectionOnTraffic
}

extension NetworkReachabilityFlags: CustomStringConvertible {
    /// Whether packets flow now, or will without anybody's help: Alamofire's rule.
    var isActuallyReachable: Bool {
        let connectsByItself =
            !isDisjoint(with: [.connectionOnDemand, .connectionOnTraffic]) && !contains(.interventionRequired)
        return contains(.reachable) && (!contains(.connectionRequired) || connectsByItself)
    }

    /// One character for each flag, `-` where it is not set, for example `-R -----l-`: WWAN, Reachable, then connection
    /// required, transient, intervention required, Connection on traffic, connection on Demand, local address, direct.
    public var readableDescription: String {
        func character(_ flag: NetworkReachabilityFlags, _ letter: Character) -> Character {
            contains(flag) ? letter : "-"
        }
        let reach = [character(.isWWAN, "W"), character(.reachable, "R")]
        let details = [
            character(.connectionRequired, "c"), character(.transientConnection, "t"),
            character(.interventionRequired, "i"), character(.connectionOnTraffic, "C"),
            character(.connectionOnDemand, "D"), character(.isLocalAddress, "l"), character(.isDirect, "d"),
        ]
        return String(reach + [" "] + details)
    }

    /// The names of the flags that are set, in the order of their values.
    public var names: [String] {
        Self.known.compactMap { flag, name in contains(flag) ? name : nil }
    }

    static let known: [(NetworkReachabilityFlags, String)] = [
        (.transientConnection, "transientConnection"), (.reachable, "reachable"),
        (.connectionRequired, "connectionRequired"), (.connectionOnTraffic, "connectionOnTraffic"),
        (.interventionRequired, "interventionRequired"), (.connectionOnDemand, "connectionOnDemand"),
        (.isLocalAddress, "isLocalAddress"), (.isDirect, "isDirect"), (.isWWAN, "isWWAN"),
    ]

    /// The same as ``readableDescription``.
    public var description: String { readableDescription }
}
