/// The path packets to a target would take at one moment, or why there is none. A value: it does not change by itself.
public struct NetworkPath: Hashable, Sendable {
    /// What is known in Apple's terms; nil while nothing is known.
    public var flags: NetworkReachabilityFlags?

    /// Why the target is not reachable or unknown; nil when it is reachable.
    public var reason: UnsatisfiedReason?

    /// The address that was looked up and decided. For the network at large one of the addresses that stand for it, for
    /// a name one of its addresses; nil when there was nothing to look up.
    public var destination: IPAddress?

    /// The interface packets leave through, or the one that stands in the way: without carrier, down or dormant.
    public var interface: NetworkInterface?

    /// The router packets are sent to; nil when the destination is on the link itself.
    public var gateway: IPAddress?

    /// The source address packets get.
    public var source: IPAddress?

    /// The routing table the route was found in, where the kernel says: 254 is `main`, 255 `local` (`ip-route(8)`).
    /// For addresses of this machine Linux says 254 until a policy rule has been added for the first time, then 255.
    public var table: UInt32?

    /// Whether the target can be reached over IPv4.
    public var supportsIPv4 = false

    /// Whether the target can be reached over IPv6.
    public var supportsIPv6 = false

    /// The largest packet that the route, or else the interface, takes, in bytes (MTU); nil without a path.
    public var mtu: UInt32?

    /// Whether the status changes all the time: ``flappingChanges`` times within ``flappingWindow``, until it has not changed
    /// for as long. Changes count while somebody listens to the target, as a listener without a ``SettlePolicy`` hears them.
    public var isFlapping = false

    /// Grows by one with each change of the path, as seen by this process; starts with 1.
    public var generation: UInt64 = 0

    package init(flags: NetworkReachabilityFlags? = nil, reason: UnsatisfiedReason? = nil) {
        self.flags = flags
        self.reason = reason
    }

    /// The status the flags stand for.
    public var status: NetworkReachabilityStatus { NetworkReachabilityStatus(flags) }

    /// Whether packets leave over a wireless wide area network, which often costs money by the byte.
    public var isExpensive: Bool { flags?.contains(.isWWAN) ?? false }

    /// Whether everything but the generation is the same.
    func isSame(as other: NetworkPath) -> Bool {
        var other = other
        other.generation = generation
        return self == other
    }
}

extension NetworkPath: CustomStringConvertible {
    /// For example `reachable (ethernet or Wi-Fi), interface eth0, gateway 192.0.2.1, source 192.0.2.7`.
    public var description: String {
        var parts = [status.description]
        if let reason { parts.append(reason.description) }
        if let interface { parts.append("interface \(interface)") }
        if let gateway { parts.append("gateway \(gateway)") }
        if let source { parts.append("source \(source)") }
        return parts.joined(separator: ", ")
    }
}
