/// What is known of the path to a target, in the terms of Apple's `SCNetworkReachabilityFlags`: same names, same raw
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

    /// Somebody must do something before the connection can be made. Never set on Linux.
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
