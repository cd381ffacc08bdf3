extension NetworkPath {
    /// The reason why a target is not reachable, or why its status is unknown.
    ///
    /// The type is not an enumeration, because later kernels and versions may add reasons. The raw value is the name of
    /// the reason.
    public struct UnsatisfiedReason: RawRepresentable, Hashable, Sendable {
        /// The name, as used in JSON output.
        public let rawValue: String

        /// Creates a reason from any name, known or unknown.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The kernel has no route to the target (ENETUNREACH).
        public static let noRoute = UnsatisfiedReason(rawValue: "noRoute")

        /// A route of type `unreachable` matches the target (EHOSTUNREACH, RTN_UNREACHABLE).
        public static let unreachable = UnsatisfiedReason(rawValue: "unreachable")

        /// A route or rule of type `prohibit` matches the target (EACCES, RTN_PROHIBIT).
        public static let prohibited = UnsatisfiedReason(rawValue: "prohibited")

        /// A route or rule of type `blackhole` matches the target (EINVAL, RTN_BLACKHOLE).
        public static let blackholed = UnsatisfiedReason(rawValue: "blackholed")

        /// A default route leads to an interface that discards all packets (`dummy`, `ifb`).
        public static let discarded = UnsatisfiedReason(rawValue: "discarded")

        /// The interface has no carrier (IFF_LOWER_UP is not set): for example, the cable is unplugged, or the process
        /// that owns a tunnel has ended.
        public static let noCarrier = UnsatisfiedReason(rawValue: "noCarrier")

        /// The interface is administratively down (IFF_UP is not set).
        public static let linkDown = UnsatisfiedReason(rawValue: "linkDown")

        /// The interface waits for an external event, such as Wi-Fi authorization (IF_OPER_DORMANT, RFC 2863).
        public static let dormant = UnsatisfiedReason(rawValue: "dormant")

        /// The kernel has no source address that a reply could reach.
        public static let noSourceAddress = UnsatisfiedReason(rawValue: "noSourceAddress")

        /// Packets would leave through an interface of a type that the options exclude
        /// (``NetworkReachabilityOptions/requiredInterfaceType``,
        /// ``NetworkReachabilityOptions/prohibitedInterfaceTypes``).
        public static let interfaceNotAllowed = UnsatisfiedReason(rawValue: "interfaceNotAllowed")

        /// There is no interface except the loopback interface, or the interface of the route or of the zone no longer
        /// exists.
        public static let noInterface = UnsatisfiedReason(rawValue: "noInterface")

        /// The name does not exist, or the name service cannot be queried.
        public static let nameNotResolved = UnsatisfiedReason(rawValue: "nameNotResolved")

        /// The kernel rejected the route lookup with another error.
        public static let refused = UnsatisfiedReason(rawValue: "refused")

        /// The status is unknown because the name service has not answered yet.
        public static let resolving = UnsatisfiedReason(rawValue: "resolving")

        /// The status is unknown because the kernel cannot be queried, for example because a sandbox denies netlink.
        public static let netlinkUnavailable = UnsatisfiedReason(rawValue: "netlinkUnavailable")

        /// The status is unknown because the network namespace was deleted, or the process of the namespace has ended.
        public static let namespaceGone = UnsatisfiedReason(rawValue: "namespaceGone")
    }
}

extension NetworkPath.UnsatisfiedReason: CustomStringConvertible {
    /// A short text, for example `no carrier`.
    public var description: String {
        switch self {
        case .noRoute: "no route"
        case .unreachable: "unreachable route"
        case .prohibited: "prohibited by a route or rule"
        case .blackholed: "blackholed by a route or rule"
        case .discarded: "the interface discards all packets"
        case .noCarrier: "no carrier"
        case .linkDown: "link down"
        case .dormant: "dormant, waiting for a connection"
        case .noSourceAddress: "no source address"
        case .noInterface: "no interface"
        case .interfaceNotAllowed: "an interface of this type is not allowed"
        case .nameNotResolved: "name not resolved"
        case .refused: "refused by the kernel"
        case .resolving: "name not resolved yet"
        case .netlinkUnavailable: "netlink is not available"
        case .namespaceGone: "the network namespace is gone"
        default: rawValue
        }
    }
}
