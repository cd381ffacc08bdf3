import CLinux
import CNetlink
import LinuxSupport

/// An entry of a link's neighbour table: who has an address there.
///
/// C counterpart: `ndmsg` and `NDA_*` in `<linux/neighbour.h>`.
package struct Neighbour: Hashable, Sendable {
    package var state: NeighbourState
    /// The link-layer address as sent, empty while it is not known.
    package var hardwareAddress: [UInt8]

    /// For how long nothing has confirmed that it is there (NDA_CACHEINFO), in steps of 10 ms; nil where the kernel does not say. Answers to
    /// what programs send count: under traffic it stays below a second.
    package var sinceConfirmed: Duration?

    package init(state: NeighbourState, hardwareAddress: [UInt8] = []) {
        self.state = state
        self.hardwareAddress = hardwareAddress
    }

    /// Reads an RTM_NEWNEIGH body; nil when it is truncated.
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
        // The object reads this too, and has no function that tells it. USER_HZ is 100 wherever Linux runs.
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<ndmsg>.size)) where type == Int(NDA_CACHEINFO) {
            sinceConfirmed = value.load(nda_cacheinfo.self, at: 0).map { .milliseconds(10 * Int($0.ndm_confirmed)) }
        }
    }

    /// Whether a message of a neighbour may be about a gateway that routes now pass over, or no longer do. IPv6 passes over
    /// gateways that have failed (`rt6_check_neigh`, net/ipv6/route.c); they work again when they answer, are heard from, or
    /// are forgotten. What is too short to tell may be.
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
