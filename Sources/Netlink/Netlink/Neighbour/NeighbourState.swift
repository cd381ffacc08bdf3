/// What the kernel knows of a neighbour on a link (RFC 4861, section 7.3.2; the same for ARP).
///
/// C counterpart: `NUD_*` in `<linux/neighbour.h>`, `ip-neighbour(8)`.
package struct NeighbourState: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// There is an entry, and nothing is known.
    package static let none = NeighbourState(rawValue: 0)
    /// It is being asked for, for the first time.
    package static let incomplete = NeighbourState(rawValue: 0x01)
    /// It answered a moment ago.
    package static let reachable = NeighbourState(rawValue: 0x02)
    /// It answered once; the next packet finds out whether it still does.
    package static let stale = NeighbourState(rawValue: 0x04)
    /// A packet was sent; an answer is waited for.
    package static let delay = NeighbourState(rawValue: 0x08)
    /// It is being asked again.
    package static let probe = NeighbourState(rawValue: 0x10)
    /// It did not answer.
    package static let failed = NeighbourState(rawValue: 0x20)
    /// Nobody is asked on such a link.
    package static let noARP = NeighbourState(rawValue: 0x40)
    /// Somebody has set it for good.
    package static let permanent = NeighbourState(rawValue: 0x80)
}
