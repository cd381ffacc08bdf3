import CLinux
import CNetlink
import LinuxSupport

/// An entry of a link's neighbour table, which maps an address to a link-layer address.
///
/// C counterpart: `ndmsg` and `NDA_*` in `<linux/neighbour.h>`.
package struct Neighbour: Hashable, Sendable {
    package var state: NeighbourState
    /// The link-layer address in network order; empty while it is not known.
    package var hardwareAddress: [UInt8]

    /// The time since the neighbour was last confirmed (NDA_CACHEINFO), with a resolution of 10 ms; nil if the kernel
    /// does not report it. Replies to the packets of programs also confirm it, so under traffic it stays below a
    /// second.
    package var sinceConfirmed: Duration?

    package init(state: NeighbourState, hardwareAddress: [UInt8] = []) {
        self.state = state
        self.hardwareAddress = hardwareAddress
    }

    /// Decodes an RTM_NEWNEIGH body; nil if it is truncated.
    ///
    /// C counterpart: `rtnl_neigh`.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(ndmsg.self, at: 0), let object = RouteObject(.newNeighbour, body: body) else {
            return nil
        }
        self.init(
            state: NeighbourState(rawValue: head.ndm_state),
            hardwareAddress: object.read { Array(UnsafeRawBufferPointer(rtnl_neigh_get_lladdr($0))) }
        )
        // The object contains this value too, but libnl has no function that returns it. USER_HZ is 100 on all
        // architectures.
        sinceConfirmed = Attributes(body.bytes(from: MemoryLayout<ndmsg>.size)).value(of: Int(NDA_CACHEINFO))?
            .load(nda_cacheinfo.self, at: 0).map { .milliseconds(10 * Int($0.ndm_confirmed)) }
    }

    /// Returns whether a message about a neighbour may be about a gateway that routes begin or cease to avoid. IPv6
    /// avoids gateways that have failed (`rt6_check_neigh`, net/ipv6/route.c) until they answer, send packets or are
    /// removed. Truncated messages count.
    ///
    /// - Parameter body: An `ndmsg`.
    static func mayChangeRoutes(_ body: UnsafeRawBufferPointer) -> Bool {
        guard let head = body.load(ndmsg.self, at: 0) else { return true }
        guard AddressFamily(rawValue: head.ndm_family) == .ipv6 else { return false }
        switch NeighbourState(rawValue: head.ndm_state) {
        case .failed: return true
        case .reachable, .stale: return head.ndm_flags & UInt8(NTF_ROUTER) != 0
        default: return false
        }
    }
}

/// The state of a neighbour (RFC 4861, section 7.3.2; the same for ARP).
///
/// C counterpart: `NUD_*` in `<linux/neighbour.h>`, `ip-neighbour(8)`.
package struct NeighbourState: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// The entry has no state yet.
    package static let none = NeighbourState(rawValue: 0)
    /// The first resolution is in progress.
    package static let incomplete = NeighbourState(rawValue: 0x01)
    /// The neighbour answered recently.
    package static let reachable = NeighbourState(rawValue: 0x02)
    /// The neighbour answered once. The next packet verifies it.
    package static let stale = NeighbourState(rawValue: 0x04)
    /// A packet was sent, and no answer has arrived yet.
    package static let delay = NeighbourState(rawValue: 0x08)
    /// The neighbour is being probed.
    package static let probe = NeighbourState(rawValue: 0x10)
    /// The neighbour did not answer.
    package static let failed = NeighbourState(rawValue: 0x20)
    /// The link does not resolve addresses.
    package static let noARP = NeighbourState(rawValue: 0x40)
    /// An administrator has set the entry.
    package static let permanent = NeighbourState(rawValue: 0x80)
}
