/// The state bits of a link that decide whether packets can leave through it.
///
/// C counterpart: `IFF_*` in `<linux/if.h>`, `netdevice(7)`.
package struct LinkFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Administratively up (IFF_UP).
    package static let up = LinkFlags(rawValue: 1 << 0)
    /// A loopback device (IFF_LOOPBACK).
    package static let loopback = LinkFlags(rawValue: 1 << 3)
    /// One peer only (IFF_POINTOPOINT).
    package static let pointToPoint = LinkFlags(rawValue: 1 << 4)
    /// RFC 2863 operational; lags behind the carrier by up to a second (IFF_RUNNING).
    package static let running = LinkFlags(rawValue: 1 << 6)
    /// Nobody is asked for hardware addresses (IFF_NOARP).
    package static let noARP = LinkFlags(rawValue: 1 << 7)
    /// The driver sees a carrier, true at the moment it is asked for (IFF_LOWER_UP).
    package static let carrier = LinkFlags(rawValue: 1 << 16)
    /// The driver waits for an outside event (IFF_DORMANT).
    package static let dormant = LinkFlags(rawValue: 1 << 17)
}
