import Glibc
import NetworkLab

/// The parts of every world.
extension World {
    /// In Debian the directory is not in the PATH of users.
    static let nft = access("/usr/sbin/nft", X_OK) == 0 ? "/usr/sbin/nft" : "nft"

    /// Returns the source of plain packets.
    static func source(_ family: Family) -> String { family == .ipv4 ? "192.168.1.3" : "3fff:1::3" }

    static func settings(of station: Station, _ line: Line) -> [(String, String)] {
        var settings = [
            ("net.ipv6.conf.default.accept_dad", "0"), ("net.ipv6.conf.all.accept_dad", "0"),
            ("net.ipv6.conf.default.accept_ra", "0"),
            // A user namespace may have a single group.
            ("net.ipv4.ping_group_range", LabThread.canBecomeNobody ? "0 65534" : "0 0"),
        ]
        if station == .pc, line == .ipv4 { settings.append(("net.ipv6.conf.default.disable_ipv6", "1")) }
        if station == .router || station == .provider || station == .spare {
            settings += [("net.ipv4.ip_forward", "1"), ("net.ipv6.conf.all.forwarding", "1")]
        }
        return settings
    }

    func addresses(of station: Station) -> [Step] {
        let (ipv4, ipv6) = (line != .ipv6, line != .ipv4)
        let commands: [String]
        switch station {
        case .pc:
            commands =
                ["link set p0 up"]
                + (ipv4
                    ? [
                        "addr add 192.168.1.2/24 dev p0", "addr add 192.168.1.3/24 dev p0",
                        "route add default via 192.168.1.1",
                    ] : [])
                + (ipv6
                    ? [
                        "addr add 3fff:1::2/64 dev p0 nodad",
                        // The address is deprecated, so only sockets that are bound to it use it.
                        "addr add 3fff:1::3/64 dev p0 nodad preferred_lft 0",
                        "route add default via fe80::1 dev p0",
                    ] : [])
        case .router:
            commands = [
                "link set r0 up", "addr add 192.168.1.1/24 dev r0", "addr add 3fff:1::1/64 dev r0 nodad",
                "addr add fe80::1/64 dev r0 nodad", "link set r1 up", "addr add 100.70.9.1/24 dev r1",
                "addr add 100.70.9.13/24 dev r1", "addr add 3fff:9::1/64 dev r1 nodad",
                "route add default via 100.70.9.2", "route add default via 3fff:9::2",
            ]
        case .provider:
            commands = [
                "link set v0 up", "addr add 100.70.9.2/24 dev v0", "addr add 3fff:9::2/64 dev v0 nodad",
                "route add 3fff:1::/64 via 3fff:9::1", "link set v1 up", "addr add 100.70.3.1/24 dev v1",
                "addr add 3fff:3::1/64 dev v1 nodad", "link set v2 up", "addr add 203.0.113.1/24 dev v2",
                "addr add 3fff:4::1/64 dev v2 nodad", "route add default via 100.70.3.2",
                "route add default via 3fff:3::2",
            ]
        case .internet:
            let own: [Spot] = [.resolver, .secondResolver, .anchor, .secondAnchor]
            let world = own.flatMap { [$0.address(.ipv4), $0.address(.ipv6)] } + LargeNetwork.ipv4 + LargeNetwork.ipv6
            commands =
                [
                    "link set i0 up", "addr add 100.70.3.2/24 dev i0", "addr add 3fff:3::2/64 dev i0 nodad",
                    "route add default via 100.70.3.1", "route add default via 3fff:3::1",
                ] + world.map { "addr add \($0)/\($0.contains(":") ? "128 dev lo nodad" : "32 dev lo")" }
        case .host:
            commands = [
                "link set h0 up", "addr add 203.0.113.80/24 dev h0", "addr add 3fff:4::80/64 dev h0 nodad",
                "route add default via 203.0.113.1", "route add default via 3fff:4::1",
            ]
        case .spare:
            commands = []
        }
        return (["link set lo up"] + commands).map { .ip(station, $0) }
    }

    /// Returns the chains and counters. The router counts all packets from the pc except neighbour discovery. The provider counts the
    /// packets that it forwards to hosts that should get none.
    func tables(of station: Station) -> [Step] {
        var tables = World.table("inet lab", "filter", ["prerouting": -300, "input": 0, "forward": 0, "output": 0])
        switch station {
        case .router:
            for family in ["ip nat", "ip6 nat"] {
                tables += World.table(family, "nat", ["prerouting": -100, "postrouting": 100])
            }
            tables += """

                add rule ip nat postrouting oifname "r1" ip saddr 192.168.1.3 snat to 100.70.9.13
                add rule ip nat postrouting oifname "r1" snat to 100.70.9.1
                add table inet count
                add counter inet count sent
                add chain inet count prerouting { type filter hook prerouting priority -400; }
                add rule inet count prerouting iifname != "r0" return
                add rule inet count prerouting icmpv6 type { 130-137, 143 } return
                add rule inet count prerouting ip daddr 224.0.0.0/4 return
                add rule inet count prerouting counter name sent
                """
        case .provider:
            let resolvers = [Spot.resolver, .secondResolver]
            tables += """

                add table inet count
                add counter inet count strangers
                add counter inet count forbidden
                add set inet count forbidden4 { type ipv4_addr; flags dynamic; }
                add set inet count forbidden6 { type ipv6_addr; flags dynamic; }
                add chain inet count forward { type filter hook forward priority -400; }
                add rule inet count forward iifname != "v0" return
                add rule inet count forward ip daddr { \(resolvers.map { $0.address(.ipv4) }.joined(separator: ", ")) } return
                add rule inet count forward ip6 daddr { \(resolvers.map { $0.address(.ipv6) }.joined(separator: ", ")) } return
                add rule inet count forward ip daddr 192.0.2.1 tcp dport 80 counter name strangers return
                add rule inet count forward ip6 daddr 2001:db8::1 tcp dport 80 counter name strangers return
                add rule inet count forward counter name forbidden
                add rule inet count forward add @forbidden4 { ip daddr }
                add rule inet count forward add @forbidden6 { ip6 daddr }
                """
        case .spare: return []
        default: break
        }
        return [Step(station: station, command: .nft(tables))]
    }

    private static func table(_ name: String, _ type: String, _ chains: [String: Int]) -> String {
        let lines = chains.sorted { $0.key < $1.key }.map {
            "add chain \(name) \($0.key) { type \(type) hook \($0.key) priority \($0.value); }"
        }
        return (["add table \(name)"] + lines).joined(separator: "\n") + "\n"
    }
}
