import NetworkLab

/// Faults of one family while the other works, and lines with one family.
extension Situation {
    private static let bothResolvers = [Spot.other("198.51.100.53"), .other("3fff:b::53")]
    private static let either = [
        Variant(line: .dual, ask: .anchors, isNobody: true), Variant(line: .dual, ask: .privately),
    ]

    private static func half(
        _ name: String,
        _ steps: [Step],
        _ dead: Family,
        facts: [Fact],
        _ reason: String
    ) -> Situation {
        Situation(
            name: name,
            row: 48,
            steps: steps,
            resolvers: bothResolvers,
            facts: facts + [.page(.anchor, 204).only(dead == .ipv4 ? .ipv6 : .ipv4), .noEcho(.atLarge).only(dead)],
            variants: either,
            right: .place("degraded", reason)
        )
    }

    static let families = [
        half(
            "ipv6-dropped: the provider drops IPv6",
            [.rule(.provider, "forward", "meta nfproto ipv6 drop")],
            .ipv6,
            facts: [.echo(.provider)],
            "ipv6Broken"
        ),
        half(
            "ipv6-gateway-dead: the gateway is dead for IPv6",
            [.rule(.router, "prerouting", "iifname r0 meta nfproto ipv6 drop")],
            .ipv6,
            facts: [.noEcho(.gateway).only(.ipv6), .echo(.gateway).only(.ipv4)],
            "ipv6Broken"
        ),
        half(
            "ipv6-without-route: the gateway has no route for IPv6",
            [.ip(.router, "route del ::/0")],
            .ipv6,
            facts: [.echo(.gateway)],
            "ipv6Broken"
        ),
        half(
            "ipv4-dropped: the provider drops IPv4",
            [.rule(.provider, "forward", "meta nfproto ipv4 drop")],
            .ipv4,
            facts: [.echo(.provider)],
            "ipv4Broken"
        ),
        half(
            "ipv4-gateway-dead: the gateway is dead for IPv4",
            [
                .rule(.router, "prerouting", "iifname r0 meta nfproto ipv4 drop"),
                Step(
                    station: .router,
                    command: .nft(
                        "add table arp dead\nadd chain arp dead in { type filter hook input priority 0; policy drop; }"
                    )
                ),
            ],
            .ipv4,
            facts: [.noEcho(.gateway).only(.ipv4), .echo(.gateway).only(.ipv6)],
            "ipv4Broken"
        ),
        Situation(
            name: "asked-for-broken-family: the provider drops IPv6, and the check uses only IPv6",
            steps: [.rule(.provider, "forward", "meta nfproto ipv6 drop")],
            resolvers: bothResolvers,
            facts: [.echo(.provider), .noEcho(.atLarge).only(.ipv6), .page(.anchor, 204).only(.ipv4)],
            variants: [Variant(line: .dual, ask: .privately, isNobody: true)],
            arguments: ["--family", "6"],
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "asked-for-good-family: the provider drops IPv6, and the check uses only IPv4",
            steps: [.rule(.provider, "forward", "meta nfproto ipv6 drop")],
            resolvers: bothResolvers,
            facts: [.echo(.provider), .noEcho(.atLarge).only(.ipv6), .page(.anchor, 204).only(.ipv4)],
            variants: [Variant(line: .dual, ask: .privately, isNobody: true)],
            arguments: ["--family", "4"],
            right: .works
        ),
    ]
}
