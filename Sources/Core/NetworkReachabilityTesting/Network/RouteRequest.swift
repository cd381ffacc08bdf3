import LinuxPrimitives
import Netlink

/// A route somebody asks for, before the kernel has looked at it.
struct RouteRequest: Sendable {
    var prefix: Prefix
    var table: UInt32
    /// Nil for the family's own: 0 for IPv4, 1024 for IPv6.
    var metric: UInt32?
    var kind: RouteKind
    var hops: [(gateway: WireAddress?, link: String?)] = []
    var object: UInt32 = 0
    var source: WireAddress?
    var end: Duration?
}
