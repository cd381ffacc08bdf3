extension NetworkPath {
    /// What the paths of many targets may have in common.
    struct Common: Hashable, Sendable {
        var flags: NetworkReachabilityFlags?
        var reason: UnsatisfiedReason?
        var interface: NetworkInterface?
        var gateway: IPAddress?
        var source: IPAddress?
        var table: UInt32?
        var supportsIPv4 = false
        var supportsIPv6 = false
        var mtu: UInt32?
        /// Beside `interface`.
        var otherInterfaces: [NetworkInterface] = []
        /// How often the link that packets leave by, or the one below it, has lost its carrier.
        var carrierLosses: UInt32 = 0
    }

    /// How often the interface, or the device that it runs over, has lost its carrier, as the driver counted. If the number has grown and the
    /// path is the same, the path was away in between.
    package var carrierLosses: UInt32 {
        get { common.carrierLosses }
        set { common.carrierLosses = newValue }
    }

    /// How often the carrier was lost, and was back, between two paths that are there and leave by the same interface.
    package func carrierLosses(since last: NetworkPath) -> UInt32 {
        guard status.isReachable, last.status.isReachable, interface?.index == last.interface?.index else { return 0 }
        return carrierLosses &- last.carrierLosses
    }

    /// What is known in Apple's terms; nil while nothing is known.
    public var flags: NetworkReachabilityFlags? {
        get { common.flags }
        set { common.flags = newValue }
    }

    /// Why the target is not reachable or unknown; nil when it is reachable.
    public var reason: UnsatisfiedReason? {
        get { common.reason }
        set { common.reason = newValue }
    }

    /// The interface packets leave through, or the one that stands in the way: without carrier, down or dormant.
    public var interface: NetworkInterface? {
        get { common.interface }
        set { common.interface = newValue }
    }

    /// The interfaces that packets may leave through, ``interface`` first: those of IPv4 and of IPv6 may be others, and so may those of
    /// the addresses of one name. Empty where the target is not reachable. As `NWPath.availableInterfaces`.
    public var availableInterfaces: [NetworkInterface] {
        guard status.isReachable, let interface else { return [] }
        return [interface] + common.otherInterfaces
    }

    /// The router packets are sent to; nil when the destination is on the link itself.
    public var gateway: IPAddress? {
        get { common.gateway }
        set { common.gateway = newValue }
    }

    /// The source address packets get.
    public var source: IPAddress? {
        get { common.source }
        set { common.source = newValue }
    }

    /// The routing table the route was found in, where the kernel says: 254 is `main`, 255 `local` (`ip-route(8)`).
    /// For addresses of this machine Linux says 254 until a policy rule has been added for the first time, then 255.
    public var table: UInt32? {
        get { common.table }
        set { common.table = newValue }
    }

    /// Whether the target can be reached over IPv4.
    public var supportsIPv4: Bool {
        get { common.supportsIPv4 }
        set { common.supportsIPv4 = newValue }
    }

    /// Whether the target can be reached over IPv6.
    public var supportsIPv6: Bool {
        get { common.supportsIPv6 }
        set { common.supportsIPv6 = newValue }
    }

    /// The largest packet that the route, or else the interface, takes, in bytes (MTU); nil without a path.
    public var mtu: UInt32? {
        get { common.mtu }
        set { common.mtu = newValue }
    }
}
