import NetworkLab

/// Faults of this machine and its link.
extension Situation {
    /// A rule for a port, which a route lookup does not show.
    private static func refusing(_ kind: String) -> Situation {
        Situation(
            name: "rule-for-port-\(kind): a rule of this machine refuses connections to the port: \(kind)",
            steps: Step.ip(
                .pc,
                "-4 rule add pref 100 ipproto tcp dport 81 \(kind)",
                "-6 rule add pref 100 ipproto tcp dport 81 \(kind)"
            ),
            facts: [.echo(.host), .tcp(.host, 81, .unreachable), .page(.host, 200)],
            variants: Variant.anchored,
            target: "tcp://host.example:81",
            right: .place("thisMachine", "prohibited", "noRoute", "blackholed")
        )
    }

    static let machine = [
        Situation(
            name: "no-route: there is no default route",
            row: 2,
            steps: Step.ip(.pc, "route del default", "route del ::/0"),
            facts: [.echo(.gateway), .tcp(.anchor, 80, .unreachable)],
            mostPackets: 0,
            right: .place("thisMachine", "noRoute")
        ),
        Situation(
            name: "prohibited-by-rule: a rule prohibits all destinations except neighbours",
            row: 2,
            steps: Step.ip(
                .pc,
                "-4 rule add prohibit pref 32000",
                "-6 rule add prohibit pref 32000"
            )
                + Step.ip(
                    .pc,
                    "-4 rule add to 192.168.1.0/24 lookup main pref 31000",
                    "-6 rule add to fe80::/10 lookup main pref 31000"
                ),
            facts: [.echo(.gateway), .tcp(.anchor, 80, .unreachable)],
            mostPackets: 0,
            right: .place("thisMachine", "prohibited")
        ),
        Situation(
            name: "unreachable-default: the default route is unreachable",
            row: 2,
            steps: Step.ip(.pc, "route replace unreachable default", "route add unreachable ::/0 metric 1"),
            facts: [.echo(.gateway), .tcp(.anchor, 80, .unreachable)],
            variants: Variant.both,
            mostPackets: 0,
            right: .place("thisMachine", "unreachable", "noRoute")
        ),
        refusing("prohibit"), refusing("unreachable"), refusing("blackhole"),
        Situation(
            name: "rule-for-names: a rule of this machine prohibits packets to name servers",
            steps: Step.ip(
                .pc,
                "-4 rule add pref 100 ipproto udp dport 53 prohibit",
                "-6 rule add pref 100 ipproto udp dport 53 prohibit"
            ),
            facts: [.echo(.gateway), .name(.resolver, .unsent), .page(.anchor, 204)],
            variants: Variant.addressed,
            right: .place("thisMachine", "prohibited")
        ),
        Situation(
            name: "firewall-drops: the firewall of this machine drops all outgoing packets",
            row: 4,
            steps: [.rule(.pc, "output", talkOfNeighbours), .rule(.pc, "output", "oifname p0 drop")],
            facts: [.noEcho(.gateway), .name(.resolver, .unsent), .tcp(.anchor, 80, .silent)],
            right: .place("thisMachine", "firewall", "blockedHere")
        ),
        Situation(
            name:
                "firewall-drops-beyond: the firewall of this machine drops all outgoing packets except those to the gateway",
            row: 4,
            steps: [
                .rule(.pc, "output", "oifname p0 ip ttl > 2 ip daddr != 192.168.1.0/24 drop"),
                .rule(
                    .pc,
                    "output",
                    "oifname p0 ip6 hoplimit > 2 ip6 daddr != { 3fff:1::/64, fe80::/10, ff00::/8 } drop"
                ),
            ],
            facts: [.echo(.gateway), .name(.resolver, .unsent), .tcp(.anchor, 80, .silent)],
            right: .place("thisMachine", "firewall", "blockedHere")
        ),
        Situation(
            name: "firewall-rejects: the firewall of this machine rejects all outgoing packets",
            row: 5,
            steps: [
                .rule(.pc, "output", talkOfNeighbours),
                .rule(.pc, "output", "oifname p0 reject with icmpx admin-prohibited"),
            ],
            facts: [.noEcho(.gateway), .tcp(.anchor, 80, .unreachable)],
            right: .place("thisMachine", "firewall", "blockedHere")
        ),
        Situation(
            name: "firewall-drops-tcp: the firewall of this machine drops TCP",
            row: 6,
            steps: [.rule(.pc, "output", "oifname p0 meta l4proto tcp drop")],
            facts: [.echo(.gateway), .echo(.host), .name(.resolver, .addresses(1)), .tcp(.anchor, 80, .silent)],
            variants: Variant.anchored,
            target: "https://host.example/",
            right: Right(places: ["thisMachine", "upstream"], reasons: ["tcpFiltered", "filtered", "firewall"])
        ),
        Situation(
            name: "firewall-drops-names: the firewall of this machine drops packets to name servers",
            steps: [.rule(.pc, "output", "oifname p0 udp dport 53 drop")],
            facts: [.echo(.gateway), .name(.resolver, .unsent), .page(.anchor, 204)],
            variants: Variant.addressed,
            right: Right(places: ["thisMachine", "dns"])
        ),
        Situation(
            name: "firewall-drops-answers: the firewall of this machine drops all incoming packets",
            steps: [.rule(.pc, "input", talkOfNeighbours), .rule(.pc, "input", "iifname p0 drop")],
            facts: [.noEcho(.gateway), .tcp(.anchor, 80, .silent), .name(.resolver, .silent)],
            right: .place("thisMachine")
        ),
        Situation(
            name: "mark-not-permitted: an unprivileged user sets a mark without the capability",
            facts: [.echo(.gateway), .page(.anchor, 204)],
            variants: [
                Variant(line: .ipv4, ask: .privately, isNobody: true),
                Variant(line: .dual, ask: .plainly, isNobody: true),
            ],
            arguments: ["--mark", "7"],
            mostPackets: 20,
            right: LabThread.canBecomeNobody ? .place("inconclusive", "notPermitted") : .works
        ),
        Situation(
            name:
                "clock-late: this machine's clock is slow: certificates are not valid yet, and servers report the right time",
            row: 7,
            sites: Site.anchors(.anchor, Site.future, ahead: .seconds(45 * 86_400))
                + Site.hosts(.page("host"), Site.future),
            facts: [.page(.anchor, 204), .chain(.anchor, "anchor.example", isGood: false)],
            variants: Variant.anchored,
            anchors: fourAnchors,
            right: .place("thisMachine", "clockWrong")
        ),
    ]

    static let link = [
        Situation(
            name: "cable-out: the cable is disconnected",
            row: 3,
            steps: [.ip(.router, "link set r0 down")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            mostPackets: 0,
            right: .place("link", "noCarrier", "linkDown")
        ),
        Situation(
            name: "link-down: the interface is down, and its routes are gone",
            row: 3,
            steps: [.ip(.pc, "link set p0 down")],
            facts: [.tcp(.anchor, 80, .unreachable)],
            mostPackets: 0,
            right: Right(places: ["link", "thisMachine"])
        ),
        Situation(
            name: "address-of-two: another machine has this machine's address, and the kernel has detected it",
            row: 8,
            steps: [.ip(.router, "addr add 3fff:1::2/64 dev r0 nodad")],
            facts: [.echo(.gateway), .page(.anchor, 204)],
            late: [
                Step(
                    station: .pc,
                    command: .shell(
                        """
                        ip -6 addr flush dev p0 scope global
                        echo 1 > /proc/sys/net/ipv6/conf/p0/accept_dad
                        ip addr add 3fff:1::2/64 dev p0
                        for i in {1..50}; do ip addr show dev p0 | grep -q dadfailed && break; sleep 0.1; done
                        """
                    )
                )
            ],
            variants: [Variant(line: .ipv6, ask: .privately, isNobody: true), Variant(line: .ipv6, ask: .anchors)],
            right: .place("link", "addressConflict")
        ),
        Situation(
            name: "gateway-of-two: two stations alternate with the gateway's address, and neither routes",
            row: 8,
            steps: [.rule(.router, "forward", "drop")],
            facts: [.echo(.gateway), .noEcho(.provider)],
            late: ["192.168.1.1", "fe80::1"].map { gateway in
                let turn = ["02:00:00:00:01:01", "02:00:00:00:0b:ad"].map {
                    "echo neigh replace \(gateway) lladdr \($0) dev p0 nud reachable; read -rt 0.5 -u 3"
                }.joined(separator: "; ")
                // One process executes all commands, because starting one process each is too slow on a busy machine.
                let turns = "exec 3<> <(:); for i in {1..30}; do \(turn); done | ip -batch -"
                return Step(
                    station: .pc,
                    command: .shell("(\(turns)) > /dev/null 2>&1 < /dev/null &"),
                    family: gateway.contains(":") ? .ipv6 : .ipv4
                )
            },
            variants: Variant.both,
            right: .place("link", "addressConflict")
        ),
    ]

    /// Neighbour discovery passes firewalls, like ARP, which they do not filter.
    static let talkOfNeighbours = "icmpv6 type { 133-136 } accept"
}
