/// The reachability of a target, with the type of connection.
public enum NetworkReachabilityStatus: Hashable, Sendable {
    /// The type of network that carries the packets.
    public enum ConnectionType: String, Hashable, Sendable {
        /// Ethernet, Wi-Fi, and every other network that is not a wireless wide area network.
        case ethernetOrWiFi
        /// A wireless wide area network (cellular modem), which is often slow or metered.
        case wwan
    }

    /// The state is not known. ``NetworkPath/reason`` contains the cause: the process is not permitted to use netlink,
    /// the name has not been resolved yet, or the network namespace was deleted.
    case unknown

    /// Packets to the target cannot leave this machine, replies cannot be received, or the name does not exist.
    case notReachable

    /// The kernel has a route to the target with a usable source address, over an interface that has carrier.
    case reachable(ConnectionType)

    /// Creates the status that corresponds to `flags` by Alamofire's rules.
    ///
    /// | Flags | Status |
    /// |---|---|
    /// | nil | ``unknown`` |
    /// | without ``NetworkReachabilityFlags/reachable``, for example the empty set | ``notReachable`` |
    /// | with ``NetworkReachabilityFlags/connectionRequired``, see below | ``notReachable`` |
    /// | any other | ``reachable(_:)`` |
    ///
    /// A connection that is established automatically and without user intervention counts as reachable, even if it is
    /// still required. Linux never sets the flags of such a connection.
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

    /// A Boolean value that indicates whether the status is ``reachable(_:)``, over any type of connection.
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

/// The properties of the path to a target, with the names, raw values and meanings of Apple's
/// `SCNetworkReachabilityFlags`.
///
/// On Linux ``interventionRequired``, ``connectionOnTraffic`` and ``connectionOnDemand`` are never set, because the
/// kernel has no such states. They exist so that code that reads them compiles.
public struct NetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    /// The bits, with Apple's values.
    public let rawValue: UInt32

    /// Creates a set from any bits, known or unknown.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The interface is a ppp link (ARPHRD_PPP).
    public static let transientConnection = NetworkReachabilityFlags(rawValue: 1 << 0)

    /// The kernel has a route to the target, with a source address and an interface that has carrier. May be set
    /// together with ``connectionRequired``.
    public static let reachable = NetworkReachabilityFlags(rawValue: 1 << 1)

    /// A connection must be established before packets can flow: the interface is dormant (RFC 2863), for example Wi-Fi
    /// that is associated but not yet authorized.
    public static let connectionRequired = NetworkReachabilityFlags(rawValue: 1 << 2)

    /// Traffic to the target establishes the connection. Never set on Linux.
    public static let connectionOnTraffic = NetworkReachabilityFlags(rawValue: 1 << 3)

    /// The user must act before a connection can be established. Never set on Linux.
    public static let interventionRequired = NetworkReachabilityFlags(rawValue: 1 << 4)

    /// The connection is established on demand. Never set on Linux.
    public static let connectionOnDemand = NetworkReachabilityFlags(rawValue: 1 << 5)

    /// The target is an address of this machine (RTN_LOCAL).
    public static let isLocalAddress = NetworkReachabilityFlags(rawValue: 1 << 16)

    /// Packets reach the target without a gateway. Not set for addresses of this machine.
    public static let isDirect = NetworkReachabilityFlags(rawValue: 1 << 17)

    /// The interface is a cellular modem, or the kernel's link information shows that it runs over one.
    public static let isWWAN = NetworkReachabilityFlags(rawValue: 1 << 18)

    /// Apple's other name for ``connectionOnTraffic``.
    public static let connectionAutomatic = connectionOnTraffic
}

extension NetworkReachabilityFlags: CustomStringConvertible {
    /// A Boolean value that indicates whether packets flow now, or will flow without user intervention, by Alamofire's
    /// rule.
    var isActuallyReachable: Bool {
        let connectsByItself =
            !isDisjoint(with: [.connectionOnDemand, .connectionOnTraffic]) && !contains(.interventionRequired)
        return contains(.reachable) && (!contains(.connectionRequired) || connectsByItself)
    }

    /// One character per flag, or `-` if the flag is not set, for example `-R -----l-`. The characters are, in this
    /// order: `W` WWAN, `R` reachable, a space, `c` connection required, `t` transient, `i` intervention required, `C`
    /// connection on traffic, `D` connection on demand, `l` local address, `d` direct.
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

    /// The names of the flags that are set, in ascending order of their values.
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
