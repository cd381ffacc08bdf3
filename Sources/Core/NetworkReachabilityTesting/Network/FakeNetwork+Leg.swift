import LinuxPrimitives
import Netlink

extension FakeNetwork {
    /// One way out of a route.
    struct Leg: Hashable, Sendable {
        var interface: UInt32
        var gateway: WireAddress?
        /// The device went away under a route that has other legs (RTNH_F_DEAD).
        var isDead = false

        var answer: NextHop { NextHop(interface: interface, gateway: gateway) }
    }
}
