import WebLab

/// Unusual lines, and networks that change.
extension Situation {
    static let unusual = [
        Situation(
            name: "point-to-point-silent: a link without a gateway, like that of a modem, drops all packets",
            row: 19,
            steps: [.deaf(.router, "r0"), .ip(.pc, "link set p0 arp off")]
                + Step.ip(.pc, "route replace default dev p0", "route replace ::/0 dev p0")
                + Step.ip(.pc, "-4 route flush 192.168.1.0/24", "-6 route flush 3fff:1::/64"),
            facts: [.noEcho(.provider), .name(.resolver, .silent)],
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "proxy-of-neighbours: the router answers ARP for all addresses; there is no gateway",
            steps: [.sysctl(.router, "net.ipv4.conf.r0.proxy_arp", "1"), .ip(.pc, "route replace default dev p0")],
            facts: [.echo(.provider), .page(.anchor, 204)],
            variants: [
                Variant(line: .ipv4, ask: .privately, isNobody: true), Variant(line: .ipv4, ask: .anchors),
            ],
            right: .works
        ),
        Situation(
            name: "gateway-names: the gateway is the name server, for IPv6 at a link-local address",
            routerNames: .well,
            resolvers: [.gateway],
            facts: [.name(.gateway, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored + [Variant(line: .ipv6, ask: .privately, isNobody: true)],
            right: .works
        ),
        Situation(
            name:
                "translated-to-ipv4: only IPv6; the provider translates to IPv4 (NAT64), the name server synthesises addresses (DNS64)",
            steps: [.ip(.internet, "route add local 64:ff9b::/96 dev lo")],
            zone: [
                "ipv4only.arpa": ["192.0.0.170", "192.0.0.171", "64:ff9b::c000:aa", "64:ff9b::c000:ab"],
                "host.example": ["203.0.113.80", "64:ff9b::cb00:7150"],
            ],
            facts: [
                .tcp(.other("64:ff9b::cb00:7150"), 443, .open), .name(.resolver, "ipv4only.arpa", .addresses(2)),
                .name(.resolver, .addresses(1)),
            ],
            variants: [
                Variant(line: .ipv6, ask: .anchors, isNobody: true),
                Variant(line: .ipv6, ask: .plainly, isNobody: true),
            ],
            target: "https://host.example/204",
            right: .works
        ),
        Situation(
            name: "neighbour-is-target: the target is the router, and the provider drops everything",
            steps: [.rule(.provider, "forward", "drop")],
            sites: Site.usual + [Site(.router, 80, .page("router"))],
            facts: [.noEcho(.atLarge), .page(.other("192.168.1.1"), 200)],
            variants: [
                Variant(line: .ipv4, ask: .anchors, isNobody: true),
                Variant(line: .ipv4, ask: .plainly, isNobody: true),
            ],
            target: "http://192.168.1.1/",
            right: .works
        ),
        Situation(
            name:
                "reverse-path-filter: the check uses another interface, and the reverse path filter drops its answers",
            steps: secondUplink + [.sysctl(.pc, "net.ipv4.conf.all.rp_filter", "1")],
            facts: [
                .echo(.gateway), .echo(.other("192.168.2.1%p1")), .noEcho(.other("1.1.1.1%p1")), .page(.anchor, 204),
            ],
            variants: [Variant(line: .ipv4, ask: .privately, isNobody: true)],
            arguments: ["--interface", "p1"],
            right: .place("inconclusive", "reversePathFilter")
        ),
        Situation(
            name: "other-device: the check uses another interface, which works",
            steps: secondUplink,
            facts: [.echo(.other("1.1.1.1%p1"))],
            variants: [Variant(line: .ipv4, ask: .privately, isNobody: true)],
            arguments: ["--interface", "p1"],
            right: .works
        ),
        Situation(
            name: "gateway-returns: the gateway is dead, and recovers",
            steps: [.deaf(.router, "r0")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: [.ip(.pc, "neigh flush all")],
            variants: Variant.both,
            right: .place("gateway", "neighbourFailed", "silent"),
            sequel: Sequel(
                steps: [Step(station: .router, command: .nft("delete table netdev dead"))],
                facts: [.echo(.gateway), .page(.anchor, 204)],
                right: .works
            )
        ),
        Situation(
            name: "provider-returns: the provider drops everything, and then stops",
            steps: [.rule(.provider, "forward", "drop")],
            facts: [.echo(.gateway), .noEcho(.atLarge)],
            variants: Variant.both,
            right: .place("upstream", "silentBeyond", "silent"),
            sequel: Sequel(steps: [.mend(.provider)], facts: [.page(.anchor, 204)], right: .works)
        ),
    ]

    static let tunnels = [
        tunnel("tunnel-well: IPv4 goes through a tunnel over IPv6", [], facts: [.page(.anchor, 204)], right: .works),
        tunnel(
            "tunnel-underlay-dead: IPv4 goes through a tunnel over IPv6, whose gateway is dead",
            row: 49,
            [.deaf(.router, "r0")],
            facts: [.noEcho(.atLarge), .noEcho(.gateway).only(.ipv6)],
            right: .place("gateway")
        ),
        tunnel(
            "tunnel-underlay-dropped: IPv4 goes through a tunnel over IPv6, which the provider drops",
            row: 49,
            [.rule(.provider, "forward", "drop")],
            facts: [.echo(.provider).only(.ipv6), .noEcho(.atLarge)],
            right: .place("upstream")
        ),
        tunnel(
            "tunnel-peer-gone: IPv4 goes through a tunnel over IPv6, and no host is at its far end",
            [.ip(.internet, "link set vx0 down")],
            facts: [.noEcho(.atLarge).only(.ipv4), .echo(.atLarge).only(.ipv6)],
            right: .place("degraded", "ipv4Broken")
        ),
    ]

    private static func tunnel(
        _ name: String,
        row: Int? = nil,
        _ steps: [Step],
        facts: [Fact],
        right: Right
    ) -> Situation {
        Situation(
            name: name,
            row: row,
            steps: [
                .ip(.pc, "link add vx0 type vxlan id 7 local 3fff:1::2 remote 3fff:b::22 dstport 4789 dev p0"),
                .ip(.pc, "link set vx0 up"), .ip(.pc, "addr add 10.99.0.2/24 dev vx0"),
                .ip(.pc, "route replace default via 10.99.0.1"), translation(.pc, "vx0"),
                .ip(.internet, "link add vx0 type vxlan id 7 local 3fff:b::22 remote 3fff:1::2 dstport 4789 dev i0"),
                .ip(.internet, "link set vx0 up"), .ip(.internet, "addr add 10.99.0.1/24 dev vx0"),
                Step(station: .provider, command: .nft("insert rule inet count forward ip6 daddr 3fff:b::22 return")),
            ] + steps,
            resolvers: [.other("3fff:b::53")],
            facts: facts,
            late: [.ip(.pc, "neigh flush all")],
            variants: [Variant(line: .dual, ask: .privately, isNobody: true), Variant(line: .dual, ask: .anchors)],
            right: right
        )
    }
}
