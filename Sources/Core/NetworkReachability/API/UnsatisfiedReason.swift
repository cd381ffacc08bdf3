extension NetworkPath {
    /// Why a target is not reachable, or why nothing is known of it.
    ///
    /// The list grows with the kernel, so it is not an enumeration; the raw value is the name.
    public struct UnsatisfiedReason: RawRepresentable, Hashable, Sendable {
        /// The name, as JSON output has it.
        public let rawValue: String

        /// Takes any name, known or not.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// No route leads to the target (ENETUNREACH).
        public static let noRoute = UnsatisfiedReason(rawValue: "noRoute")

        /// A route of type `unreachable` covers the target (EHOSTUNREACH, RTN_UNREACHABLE).
        public static let unreachable = UnsatisfiedReason(rawValue: "unreachable")

        /// A route or rule of type `prohibit` covers the target (EACCES, RTN_PROHIBIT).
        public static let prohibited = UnsatisfiedReason(rawValue: "prohibited")

        /// A route or rule of type `blackhole` covers the target (EINVAL, RTN_BLACKHOLE).
        public static let blackholed = UnsatisfiedReason(rawValue: "blackholed")

        /// A default route leads to an interface that throws every packet away (`dummy`, `ifb`).
        public static let discarded = UnsatisfiedReason(rawValue: "discarded")

        /// The interface has no carrier: the cable is out, the tunnel's owner is gone (IFF_LOWER_UP).
        public static let noCarrier = UnsatisfiedReason(rawValue: "noCarrier")

        /// The interface is administratively down (IFF_UP).
        public static let linkDown = UnsatisfiedReason(rawValue: "linkDown")

        /// The interface waits for an outside event, such as Wi-Fi keys (RFC 2863 dormant).
        public static let dormant = UnsatisfiedReason(rawValue: "dormant")

        /// There is no address that an answer could come back to.
        public static let noSourceAddress = UnsatisfiedReason(rawValue: "noSourceAddress")

        /// Packets would leave through an interface of a type that was ruled out
        /// (``NetworkReachabilityOptions/requiredInterfaceType``, ``NetworkReachabilityOptions/prohibitedInterfaceTypes``).
        public static let interfaceNotAllowed = UnsatisfiedReason(rawValue: "interfaceNotAllowed")

        /// There is no interface but the loopback, or the one the route or the zone names is gone.
        public static let noInterface = UnsatisfiedReason(rawValue: "noInterface")

        /// The name service does not know the name, or could not be asked.
        public static let nameNotResolved = UnsatisfiedReason(rawValue: "nameNotResolved")

        /// The kernel refused for a reason that none of the others names.
        public static let refused = UnsatisfiedReason(rawValue: "refused")

        /// Unknown: the name service has not answered yet.
        public static let resolving = UnsatisfiedReason(rawValue: "resolving")

        /// Unknown: the kernel cannot be asked, for example because a sandbox denies netlink.
        public static let netlinkUnavailable = UnsatisfiedReason(rawValue: "netlinkUnavailable")

        /// Unknown: the network namespace was deleted, or the process it was that of has ended.
        public static let namespaceGone = UnsatisfiedReason(rawValue: "namespaceGone")
    }
}

extension NetworkPath.UnsatisfiedReason: CustomStringConvertible {
    /// A few words for people, for example `no carrier`.
    public var description: String {
        switch self {
        case .noRoute: "no route"
        case .unreachable: "a route says unreachable"
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
