import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// A route as it stands in a table.
    struct Entry: Hashable, Sendable {
        var prefix: Prefix
        var table: UInt32
        /// The lower, the better (RTA_PRIORITY).
        var metric: UInt32
        var kind: RouteKind
        /// Empty where a next hop object says where to go, and for IPv4 routes that go nowhere.
        var hops: [Hop]
        /// The next hop object, 0 for none.
        var object: UInt32 = 0
        /// The source its packets get (RTA_PREFSRC).
        var source: WireAddress?
        /// When it ends, on the monotonic clock; IPv6 only.
        var end: Duration?
        /// IPv4 only.
        var scope: Scope = .universe

        var family: AddressFamily { prefix.family }

        func hasEnded(at now: Duration) -> Bool {
            end.map { $0 <= now } ?? false
        }

        /// Whether some hop of its own leaves through the device.
        func uses(_ interface: UInt32) -> Bool {
            hops.contains { $0.interface == interface }
        }
    }
}

/// How far an IPv4 destination is away.
///
/// C counterpart: `RT_SCOPE_*` in `<linux/rtnetlink.h>`.
enum Scope: UInt8, Hashable, Sendable, Comparable {
    case universe = 0
    case link = 253
    case host = 254

    static func < (one: Scope, other: Scope) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// The tables that exist in every namespace.
///
/// C counterpart: `RT_TABLE_*` in `<linux/rtnetlink.h>`.
enum RoutingTable {
    static let `default`: UInt32 = 253
    static let main: UInt32 = 254
    static let local: UInt32 = 255
}
