/// Networks without a relevant fault.
extension Situation {
    static let well = [
        Situation(
            name: "all-well: everything answers",
            row: 1,
            facts: [
                .echo(.gateway), .echo(.provider), .echo(.atLarge), .name(.resolver, .addresses(1)),
                .page(.anchor, 204),
                .chain(.secondAnchor, "second.example", isGood: true), .tcp(.nobody, 80, .silent),
            ],
            variants: Variant.line + [Variant(line: .dual, ask: .anchors)],
            right: .works
        ),
        Situation(
            name: "deaf-gateway: the router answers neither echoes nor datagrams, but forwards packets",
            row: 11,
            steps: [
                .rule(.router, "input", "icmp type echo-request drop"),
                .rule(.router, "input", "icmpv6 type echo-request drop"),
                .rule(.router, "input", "meta l4proto udp drop"),
            ],
            facts: [.noEcho(.gateway), .echo(.provider)],
            right: .works
        ),
        Situation(
            name: "mute-gateway: the router sends no ICMP, but forwards packets",
            row: 12,
            steps: mute(.router),
            facts: [.noEcho(.gateway), .echo(.provider), .page(.anchor, 204)],
            right: .works
        ),
        Situation(
            name:
                "mute-gateway-and-provider: neither the router nor the provider send ICMP; a name server beyond them answers",
            row: 12,
            steps: mute(.router) + mute(.provider),
            facts: [.noEcho(.gateway), .noEcho(.provider), .name(.resolver, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.both + [Variant(line: .ipv4, ask: .privately, isNobody: true)],
            right: .works
        ),
        Situation(
            name: "mute-provider: the provider's router sends no ICMP, but forwards packets",
            steps: mute(.provider),
            facts: [.echo(.gateway), .noEcho(.provider), .name(.resolver, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.both,
            right: .works
        ),
        Situation(
            name: "no-port-443: port 443 is blocked, and port 80 is open",
            steps: [.rule(.provider, "forward", "tcp dport 443 drop")],
            facts: [.tcp(.anchor, 443, .silent), .page(.anchor, 204)],
            variants: Variant.anchored,
            anchors: fourAnchors,
            right: .works
        ),
        Situation(
            name: "no-port-80: port 80 is blocked, and port 443 is open",
            row: 20,
            steps: [.rule(.provider, "forward", "tcp dport 80 drop")],
            facts: [.tcp(.anchor, 80, .silent), .chain(.anchor, "anchor.example", isGood: true)],
            variants: Variant.anchored,
            anchors: fourAnchors,
            right: .works
        ),
        Situation(
            name: "transparent-proxy: a proxy answers 502 for an unassigned address, and lets other packets pass",
            row: 29,
            steps: Step.redirect(
                .router,
                "ip daddr 192.0.2.1 tcp dport 80 dnat to 192.168.1.1:3128",
                "ip6 daddr 2001:db8::1 tcp dport 80 dnat to [3fff:1::1]:3128"
            ),
            sites: Site.usual + [Site(.router, 3128, .answer(502))],
            facts: [.page(.nobody, 502), .page(.anchor, 204)],
            variants: Variant.anchored,
            right: .works
        ),
        Situation(
            name: "transparent-proxy-redirects: a proxy answers 302 for an unassigned address, and the anchor is slow",
            row: 29,
            steps: Step.redirect(
                .router,
                "ip daddr 192.0.2.1 tcp dport 80 dnat to 192.168.1.1:3128",
                "ip6 daddr 2001:db8::1 tcp dport 80 dnat to [3fff:1::1]:3128"
            ),
            sites: Site.usual + [Site(.router, 3128, .redirect(to: "http://proxy.example/"))],
            facts: [.page(.nobody, 302), .chain(.anchor, "anchor.example", isGood: true)],
            // The first SYN is lost.
            late: [
                .rule(
                    .provider,
                    "forward",
                    "tcp dport 443 tcp flags & (syn | ack) == syn limit rate 1/hour burst 1 packets drop"
                )
            ],
            variants: Variant.anchored,
            anchors: ["https://anchor.example/204"],
            right: .works
        ),
        Situation(
            name: "anchors-dead: the target answers, and the anchors do not",
            row: 45,
            steps: [.rule(.internet, "input", "tcp dport { 80, 443 } drop")],
            facts: [.tcp(.anchor, 80, .silent), .tcp(.secondAnchor, 443, .silent), .page(.host, 200)],
            variants: Variant.anchored,
            target: "https://host.example/",
            right: .works
        ),
        Situation(
            name: "anchors-ill: the anchors answer 500 over verified TLS",
            row: 47,
            sites: Site.anchors(.answer(500)) + Site.hosts(),
            facts: [.page(.anchor, 500), .chain(.anchor, "anchor.example", isGood: true)],
            variants: Variant.anchored,
            anchors: ["https://anchor.example/204", "https://second.example/204"],
            right: .works
        ),
        Situation(
            name: "lossy: every third datagram and echo is lost",
            steps: [.rule(.router, "forward", "meta l4proto { icmp, ipv6-icmp, udp } numgen inc mod 3 0 drop")],
            facts: [.echo(.provider), .page(.anchor, 204)],
            isLossy: true,
            // All three tries of a question may be dropped. The server then looks silent.
            right: Right(places: ["works", "degraded", "dns"])
        ),
        Situation(
            name: "two-translations: another router before the provider translates addresses again",
            steps: secondRouter,
            facts: [.echo(.gateway), .echo(.provider), .page(.anchor, 204)],
            right: .works
        ),
        Situation(
            name: "spare-gateway-dead: the unused one of two gateways is dead",
            steps: secondUplink + [.deaf(.spare, "s0")],
            facts: [.echo(.gateway), .echo(.provider), .page(.anchor, 204)],
            variants: Variant.both,
            right: .works
        ),
    ]

    /// Returns steps after which a station sends no ICMP except neighbour discovery.
    private static func mute(_ station: Station) -> [Step] {
        [
            .rule(station, "output", "ip protocol icmp drop"),
            .rule(station, "output", "icmpv6 type { 1-4, 129 } drop"),
            .rule(station, "input", "icmp type echo-request drop"),
        ]
    }

    /// A second interface `p1` of the pc, and the spare station as a second path to the provider, with the interfaces `s0` and `s1`. Its
    /// routes have a lower preference.
    static let secondUplink: [Step] =
        [
            .ip(.pc, "link add p1 type veth peer name s0 address 02:00:00:00:02:01 netns @spare"),
            .ip(.pc, "link set p1 up"),
            .ip(.provider, "link add v3 type veth peer name s1 netns @spare"), .ip(.provider, "link set v3 up"),
            .ip(.provider, "addr add 100.71.9.2/24 dev v3"), .ip(.provider, "addr add 3fff:7::2/64 dev v3 nodad"),
            .ip(.provider, "route add 3fff:2::/64 via 3fff:7::1"), .ip(.spare, "link set s0 up"),
            .ip(.spare, "link set s1 up"),
            .ip(.spare, "addr add 192.168.2.1/24 dev s0"), .ip(.spare, "addr add fe80::1/64 dev s0 nodad"),
            .ip(.spare, "addr add 100.71.9.1/24 dev s1"), .ip(.spare, "addr add 3fff:7::1/64 dev s1 nodad"),
            .ip(.spare, "route add 3fff:2::/64 dev s0"), .ip(.spare, "route add default via 100.71.9.2"),
            .ip(.spare, "route add default via 3fff:7::2"),
        ]
        + Step.ip(.pc, "addr add 192.168.2.2/24 dev p1", "addr add 3fff:2::2/64 dev p1 nodad")
        + Step.ip(
            .pc,
            "route add default via 192.168.2.1 metric 2000",
            "route add default via fe80::1 dev p1 metric 2000"
        )
        + [translation(.spare, "s1")]

    /// The spare station between the router and the provider.
    static let secondRouter: [Step] =
        [
            .ip(.router, "link add r2 type veth peer name s0 netns @spare"), .ip(.router, "link set r2 up"),
            .ip(.router, "addr add 10.64.0.2/24 dev r2"), .ip(.router, "addr add 3fff:8::2/64 dev r2 nodad"),
            .ip(.router, "route replace default via 10.64.0.1"), .ip(.router, "route replace ::/0 via 3fff:8::1"),
            .ip(.provider, "link add v3 type veth peer name s1 netns @spare"), .ip(.provider, "link set v3 up"),
            .ip(.provider, "addr add 100.71.9.2/24 dev v3"), .ip(.provider, "addr add 3fff:7::2/64 dev v3 nodad"),
            .ip(.provider, "route replace 3fff:1::/64 via 3fff:7::1"), .ip(.router, "link set r1 down"),
            .ip(.provider, "addr add 100.70.9.2/32 dev lo"), .ip(.provider, "addr add 3fff:9::2/128 dev lo nodad"),
            .ip(.spare, "link set s0 up"), .ip(.spare, "link set s1 up"), .ip(.spare, "addr add 10.64.0.1/24 dev s0"),
            .ip(.spare, "addr add 3fff:8::1/64 dev s0 nodad"), .ip(.spare, "addr add 100.71.9.1/24 dev s1"),
            .ip(.spare, "addr add 3fff:7::1/64 dev s1 nodad"), .ip(.spare, "route add 3fff:1::/64 via 3fff:8::2"),
            .ip(.spare, "route add default via 100.71.9.2"), .ip(.spare, "route add default via 3fff:7::2"),
            translation(.router, "r2"), translation(.spare, "s1"),
        ]

    static func translation(_ station: Station, _ device: String) -> Step {
        let chain = "add chain ip lab translation { type nat hook postrouting priority 100; }"
        let rule = "add rule ip lab translation oifname \"\(device)\" masquerade"
        return Step(station: station, command: .nft("add table ip lab\n\(chain)\n\(rule)"))
    }
}
