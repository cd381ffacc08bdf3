/// Scripts that many scenarios share.
extension Scenario {
    static let noIPv4 = "C addr del 10.1.0.2/24 dev c0"
    static let noIPv6 = "C sysctl net.ipv6.conf.c0.disable_ipv6=1"
    static let defaults = "C route add default via 10.1.0.1; C route add default via fd01::1"
    static let noDefaults = "C route del default; C -6 route del default"
    static let addresses6 = "C addr add fd01::2/64 dev c0 nodad"

    /// Brings `c0` back after `link set c0 down`, which takes the IPv6 addresses and all default routes with it.
    static let upAgain = "C link set c0 up; \(addresses6); \(defaults)"

    /// The router unplugs the cable of `c0`, and plugs it in again.
    static let unplug = "R link set r0 down"
    static let plug = "R link set r0 up; R addr add fd01::1/64 dev r0 nodad"

    /// Makes the veth pair of `c0` again, with all addresses and routes.
    static let newPair = """
        C link add c0 address 02:00:00:00:01:02 type veth peer name r0 address 02:00:00:00:01:01 netns $R
        R link set r0 up; R addr add 10.1.0.1/24 dev r0; R addr add fd01::1/64 dev r0 nodad
        C link set c0 up; C addr add 10.1.0.2/24 dev c0; \(addresses6); \(defaults)
        """
}
