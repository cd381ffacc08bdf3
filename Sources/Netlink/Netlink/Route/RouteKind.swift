/// What happens to a packet that takes a route.
///
/// C counterpart: `RTN_*` in `<linux/rtnetlink.h>`.
package struct RouteKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let unicast = RouteKind(rawValue: 1)
    package static let local = RouteKind(rawValue: 2)
    package static let broadcast = RouteKind(rawValue: 3)
    package static let anycast = RouteKind(rawValue: 4)
    package static let multicast = RouteKind(rawValue: 5)
    package static let blackhole = RouteKind(rawValue: 6)
    package static let unreachable = RouteKind(rawValue: 7)
    package static let prohibit = RouteKind(rawValue: 8)
    package static let throwing = RouteKind(rawValue: 9)

    /// Whether it takes packets somewhere.
    package var carriesPackets: Bool {
        switch self {
        case .unicast, .local, .broadcast, .anycast, .multicast: true
        default: false
        }
    }
}
