/// Faults of the gateway.
extension Situation {
    static let gateway = [
        Situation(
            name: "gateway-dead: the gateway is dead, and was not used recently",
            row: 9,
            steps: [.deaf(.router, "r0")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: [.ip(.pc, "neigh flush all")],
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "gateway-just-died: the gateway is dead, and its neighbour entry is reachable",
            row: 10,
            steps: [.deaf(.router, "r0")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: neighbour("02:00:00:00:01:01", "reachable"),
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "gateway-died-lately: the gateway is dead, and its neighbour entry is stale",
            row: 10,
            steps: [.deaf(.router, "r0")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: neighbour("02:00:00:00:01:01", "stale"),
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        noisy(
            "gateway-dead-in-noise: the gateway is dead, and this machine's firewall drops unsolicited packets",
            [.ip(.pc, "neigh flush all")]
        ),
        noisy(
            "gateway-just-died-in-noise: the gateway is dead with a reachable neighbour entry, and the firewall drops unsolicited packets",
            neighbour("02:00:00:00:01:01", "reachable")
        ),
        noisy(
            "gateway-silent-in-noise: the gateway is dead with a permanent neighbour entry, and the firewall drops unsolicited packets",
            neighbour("02:00:00:00:01:01", "permanent")
        ),
        Situation(
            name: "gateway-exchanged: the gateway has another link-layer address than its neighbour entry",
            // Otherwise the kernel corrects the entry: after 15 to 45 s, or when the router sends a request for the pc's address.
            steps: ["ipv4", "ipv6"].map { .sysctl(.pc, "net.\($0).neigh.p0.base_reachable_time_ms", "3600000") }
                + [.knownStation] + Step.permanentStation,
            facts: [.echo(.gateway), .echo(.provider), .page(.anchor, 204)],
            late: neighbour("02:00:00:00:0b:ad", "reachable"),
            variants: Variant.both,
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "gateway-elsewhere: the router has another address than the configured gateway",
            steps: [.ip(.router, "addr flush dev r0"), .ip(.router, "addr add 192.168.1.254/24 dev r0")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: [.ip(.pc, "neigh flush all")],
            variants: Variant.both,
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "preferred-gateway-dead: the preferred one of two gateways is dead",
            steps: secondUplink + [.deaf(.router, "r0")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: [.ip(.pc, "neigh flush all")],
            // For IPv6 the kernel switches to the other gateway.
            variants: [
                Variant(line: .ipv4, ask: .privately, isNobody: true), Variant(line: .ipv4, ask: .anchors),
            ],
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "gateway-behind-mark: packets with a mark are sent to a dead gateway",
            steps: secondUplink
                + Step.ip(
                    .pc,
                    "route add default via 192.168.2.1 table 100",
                    "route add default via fe80::1 dev p1 table 100"
                ) + Step.ip(.pc, "-4 rule add fwmark 7 lookup 100", "-6 rule add fwmark 7 lookup 100") + [
                    .deaf(.spare, "s0")
                ],
            facts: [.echo(.gateway), .page(.anchor, 204)],
            variants: [Variant(line: .ipv4, ask: .privately), Variant(line: .ipv6, ask: .anchors)],
            arguments: ["--mark", "7"],
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "gateway-behind-device: the check uses another interface, whose gateway is dead",
            steps: secondUplink + [.deaf(.spare, "s0")],
            facts: [.echo(.gateway), .page(.anchor, 204)],
            variants: [
                Variant(line: .ipv4, ask: .privately, isNobody: true),
                Variant(line: .ipv6, ask: .privately, isNobody: true),
            ],
            arguments: ["--interface", "p1"],
            right: .place("gateway", "neighbourFailed", "silent")
        ),
    ]

    private static func noisy(_ name: String, _ late: [Step]) -> Situation {
        Situation(
            name: name,
            row: 10,
            steps: [
                .knownStation, .deaf(.router, "r0"), .rule(.pc, "input", "ct state established,related accept"),
                .rule(.pc, "input", talkOfNeighbours), .rule(.pc, "input", "iifname p0 drop"),
            ],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: late + Step.noise,
            variants: Variant.both,
            right: .place("gateway", "neighbourFailed", "silent")
        )
    }

    /// Returns steps that set the gateway's neighbour entry on the pc.
    private static func neighbour(_ address: String, _ state: String) -> [Step] {
        Step.ip(
            .pc,
            "neigh replace 192.168.1.1 lladdr \(address) dev p0 nud \(state)",
            "neigh replace fe80::1 lladdr \(address) dev p0 nud \(state)"
        )
    }
}
