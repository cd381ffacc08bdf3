/// Faults beyond the gateway.
extension Situation {
    private static let nearOnly: [Fact] = [.echo(.gateway), .noEcho(.provider)]
    private static let providerOnly: [Fact] = [.echo(.gateway), .echo(.provider), .noEcho(.atLarge)]

    static let upstream = [
        Situation(
            name: "gateway-forwards-nothing: the gateway forwards nothing",
            row: 13,
            steps: [.rule(.router, "forward", "drop")],
            facts: nearOnly,
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "gateway-prohibits: the gateway reports prohibited",
            row: 14,
            steps: [.rule(.router, "forward", "reject with icmpx admin-prohibited")],
            facts: nearOnly + [.tcp(.anchor, 80, .unreachable)],
            right: .place("upstream", "prohibited")
        ),
        Situation(
            name: "gateway-without-route: the gateway has lost its route to the provider",
            row: 15,
            steps: [.ip(.router, "route del default"), .ip(.router, "route del ::/0")],
            facts: [.echo(.gateway), .noEcho(.atLarge), .tcp(.anchor, 80, .unreachable)],
            right: .place("upstream", "noRoute", "noRouteBeyond")
        ),
        Situation(
            name: "gateway-says-unreachable: the gateway reports host unreachable",
            steps: [.rule(.router, "forward", "reject with icmpx host-unreachable")],
            facts: nearOnly + [.tcp(.anchor, 80, .unreachable)],
            variants: Variant.both,
            right: .place("upstream", "hostUnreachable")
        ),
        Situation(
            name: "modem-cable-out: the cable between the gateway and the provider is disconnected",
            row: 16,
            steps: [.ip(.provider, "link set v0 down")],
            facts: nearOnly,
            right: .place("upstream", "hostUnreachable", "silentBeyond", "noRoute", "noRouteBeyond")
        ),
        Situation(
            name: "provider-dead: the provider's router is dead",
            row: 16,
            steps: [.deaf(.provider, "v0")],
            facts: nearOnly,
            late: [.ip(.router, "neigh flush all")],
            right: .place("upstream", "hostUnreachable", "silentBeyond")
        ),
        Situation(
            name: "provider-drops: the provider drops everything",
            row: 17,
            steps: [.rule(.provider, "forward", "drop")],
            facts: providerOnly,
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "provider-prohibits: the provider reports prohibited",
            steps: [.rule(.provider, "forward", "reject with icmpx admin-prohibited")],
            facts: providerOnly + [.tcp(.anchor, 80, .unreachable)],
            right: .place("upstream", "prohibited")
        ),
        Situation(
            name: "provider-without-route: the provider has no route",
            steps: [.ip(.provider, "route del default"), .ip(.provider, "route del ::/0")],
            facts: providerOnly + [.tcp(.anchor, 80, .unreachable)],
            variants: Variant.both,
            right: .place("upstream", "noRoute", "noRouteBeyond")
        ),
        Situation(
            name: "only-echoes-pass: the provider lets only echoes pass",
            row: 18,
            steps: [.rule(.provider, "forward", "meta l4proto != { icmp, ipv6-icmp } drop")],
            facts: [.echo(.provider), .echo(.atLarge), .tcp(.anchor, 80, .silent), .name(.resolver, .silent)],
            variants: Variant.addressed,
            right: .place("upstream", "filtered", "silentBeyond", "tcpFiltered", "silent")
        ),
        Situation(
            name: "no-tcp-passes: the provider drops TCP",
            steps: [.rule(.provider, "forward", "meta l4proto tcp drop")],
            facts: [.echo(.atLarge), .tcp(.anchor, 80, .silent), .name(.resolver, .addresses(1))],
            variants: Variant.anchored,
            right: Right(places: ["upstream", "thisMachine"], reasons: ["filtered", "tcpFiltered", "silentBeyond"])
        ),
        Situation(
            name: "nothing-comes-back: the gateway drops all packets from the provider",
            steps: [.rule(.router, "forward", "iifname r1 drop")],
            facts: nearOnly,
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "nothing-comes-back-to-provider: the provider drops all packets from the internet",
            steps: [.rule(.provider, "forward", "oifname v0 drop")],
            facts: providerOnly,
            variants: Variant.both,
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "routing-loop: two routers beyond the provider forward packets to each other",
            steps: [
                .ip(.internet, "addr flush dev lo"), .sysctl(.internet, "net.ipv4.ip_forward", "1"),
                .sysctl(.internet, "net.ipv6.conf.all.forwarding", "1"),
            ],
            facts: providerOnly + [.tcp(.anchor, 80, .unreachable)],
            right: .place("upstream", "hopLimitExceeded")
        ),
        Situation(
            name: "second-router-drops: the second of two translating routers forwards nothing",
            steps: secondRouter + [
                Step(
                    station: .spare,
                    command: .nft(
                        "add table inet lab\nadd chain inet lab forward { type filter hook forward priority 0; policy drop; }"
                    )
                )
            ],
            facts: [.echo(.gateway), .noEcho(.provider)],
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name:
                "router-answers-names: the provider drops everything; the gateway answers DNS questions from its cache",
            steps: [.rule(.provider, "forward", "drop")],
            routerNames: .well,
            resolvers: [.gateway],
            facts: providerOnly + [.name(.gateway, .addresses(1))],
            variants: [Variant(line: .ipv4, ask: .anchors, isNobody: true)],
            right: .place("upstream", "silentBeyond", "silent")
        ),
    ]

    static let segments = [
        Situation(
            name: "large-answers-lost: the path has a small MTU and reports no errors: large segments are lost",
            row: 21,
            steps: narrow,
            sites: Site.anchors() + Site.hosts(.body(20_000)),
            facts: [.echo(.host), .tcp(.host, 80, .open), .page(.host, nil), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "http://host.example/",
            isRepeated: true,
            right: .place("upstream", "pathMTU")
        ),
        Situation(
            name: "large-packets-lost: the path has a small MTU and reports no errors; the host's answer is small",
            steps: narrow,
            facts: [.echo(.host), .page(.host, 200)],
            variants: Variant.anchored,
            target: "http://host.example/",
            right: .place("degraded", "pathMTU")
        ),
        Situation(
            name:
                "large-answers-lost-in-tls: the path has a small MTU and reports no errors: large TLS records are lost",
            row: 21,
            steps: narrow,
            sites: Site.anchors() + Site.hosts(.body(20_000)),
            facts: [.echo(.host), .tcp(.host, 443, .open), .page(.host, nil), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://host.example/",
            isRepeated: true,
            right: .place("upstream", "pathMTU")
        ),
    ]

    /// The link between the provider and the gateway carries 1300 bytes. ICMP errors about it are dropped.
    private static let narrow: [Step] = [
        .ip(.provider, "link set v0 mtu 1300"), .ip(.router, "link set r1 mtu 1300"),
        .rule(.provider, "output", "icmp type destination-unreachable icmp code frag-needed drop"),
        .rule(.provider, "output", "icmpv6 type packet-too-big drop"),
        .rule(.router, "output", "icmp type destination-unreachable icmp code frag-needed drop"),
        .rule(.router, "output", "icmpv6 type packet-too-big drop"),
    ]
}
