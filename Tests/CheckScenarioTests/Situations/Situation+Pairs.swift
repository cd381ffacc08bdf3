/// Two faults at the same time. The nearer one is the verdict.
extension Situation {
    static let pairs = [
        Situation(
            name: "firewall-and-gateway: this machine's firewall rejects, and the gateway is dead",
            steps: [
                .rule(.pc, "output", "icmpv6 type { 133-136 } accept"),
                .rule(.pc, "output", "oifname p0 reject with icmpx admin-prohibited"), .deaf(.router, "r0"),
            ],
            facts: [.noEcho(.gateway), .tcp(.anchor, 80, .unreachable)],
            variants: Variant.both,
            right: .place("thisMachine", "firewall", "blockedHere")
        ),
        Situation(
            name: "gateway-and-provider: the gateway is dead, and the provider drops everything",
            steps: [.deaf(.router, "r0"), .rule(.provider, "forward", "drop")],
            facts: [.noEcho(.gateway), .noEcho(.provider)],
            late: [.ip(.pc, "neigh flush all")],
            variants: Variant.both,
            right: .place("gateway", "neighbourFailed", "silent")
        ),
        Situation(
            name: "provider-and-names: the provider drops all packets except DNS, and the name server fails",
            steps: [
                .rule(.provider, "forward", "udp dport 53 accept"), .rule(.provider, "forward", "udp sport 53 accept"),
                .rule(.provider, "forward", "drop"),
            ],
            names: .serverFailure,
            facts: [.echo(.provider), .noEcho(.atLarge), .name(.resolver, .code(2)), .tcp(.anchor, 443, .silent)],
            variants: Variant.addressed,
            // If TCP is dropped, packets do not show where.
            right: Right(places: ["upstream", "thisMachine"])
        ),
        Situation(
            name: "provider-and-host: the provider drops everything, and the host is down",
            steps: [.rule(.provider, "forward", "drop"), .deaf(.host, "h0")],
            facts: [.echo(.provider), .noEcho(.atLarge), .noEcho(.host)],
            variants: Variant.anchored,
            target: "https://host.example/",
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "names-and-host: the name server is silent, and the host is down",
            steps: [.deaf(.host, "h0")],
            names: .silent,
            facts: [.name(.resolver, .silent), .noEcho(.host), .page(.anchor, 204)],
            variants: Variant.addressed,
            target: "https://host.example/",
            right: .place("dns", "serverSilent")
        ),
        Situation(
            name: "names-and-trust: the name server fails, and the certificate of the target has expired",
            names: .serverFailure,
            sites: Site.anchors() + Site.hosts(.page("host"), .expired(for: "host.example")),
            facts: [.name(.resolver, .code(2)), .chain(.host, "host.example", isGood: false), .page(.anchor, 204)],
            variants: Variant.addressed,
            target: "https://host.example/",
            right: .place("dns", "serverFailed")
        ),
        Situation(
            name: "portal-and-names: a portal redirects, and the second of two name servers is silent",
            steps: Step.redirect(
                .router,
                "iifname r0 ip daddr != 192.168.1.1 tcp dport 80 dnat to 192.168.1.1:80",
                "iifname r0 ip6 daddr != 3fff:1::1 tcp dport 80 dnat to [3fff:1::1]:80"
            ) + [.rule(.router, "forward", "iifname r0 meta l4proto != udp drop")],
            secondNames: .silent,
            resolvers: [.resolver, .secondResolver],
            sites: Site.usual + [Site(.router, 80, .redirect(to: "http://portal.example/login"))],
            facts: [
                .page(.nobody, 302), .name(.secondResolver, .silent), .name(.resolver, .addresses(1)),
                .noEcho(.provider),
            ],
            variants: Variant.both,
            right: .place("portal")
        ),
        Situation(
            name: "anchor-and-service: one of two anchors is dead, and no server listens at the target's port",
            steps: [
                .rule(.internet, "input", "ip daddr 198.51.100.22 drop"),
                .rule(.internet, "input", "ip6 daddr 3fff:b::22 drop"),
            ],
            facts: [.noEcho(.secondAnchor), .page(.anchor, 204), .tcp(.host, 8443, .refused)],
            variants: Variant.anchored,
            target: "tcp://host.example:8443",
            right: .place("service", "refused")
        ),
        Situation(
            name: "one-anchor-dead: one of two anchors is dead",
            row: 46,
            steps: [
                .rule(.internet, "input", "ip daddr 198.51.100.22 drop"),
                .rule(.internet, "input", "ip6 daddr 3fff:b::22 drop"),
            ],
            facts: [.noEcho(.secondAnchor), .page(.anchor, 204)],
            variants: Variant.anchored,
            right: .place("inconclusive", "anchorsDisagree")
        ),
        Situation(
            name: "ipv6-and-trust: the provider drops IPv6, and the certificate of the target has expired",
            steps: [.rule(.provider, "forward", "meta nfproto ipv6 drop")],
            sites: Site.anchors() + Site.hosts(.page("host"), .expired(for: "host.example")),
            facts: [.noEcho(.atLarge).only(.ipv6), .chain(.host, "host.example", isGood: false).only(.ipv4)],
            variants: Variant.dual,
            target: "https://host.example/",
            right: .place("tls", "expired")
        ),
        Situation(
            name: "deaf-gateway-and-provider-drops: the gateway answers no echo, and the provider drops everything",
            steps: [
                .rule(.router, "input", "icmp type echo-request drop"),
                .rule(.router, "input", "icmpv6 type echo-request drop"),
                .rule(.router, "input", "meta l4proto udp drop"),
                .rule(.provider, "forward", "drop"),
            ],
            facts: [.noEcho(.gateway), .echo(.provider), .noEcho(.atLarge)],
            variants: Variant.both,
            right: .place("upstream", "silentBeyond", "silent")
        ),
        Situation(
            name: "second-name-server-and-host: the second of two name servers is silent, and the host is down",
            steps: [.deaf(.host, "h0")],
            secondNames: .silent,
            resolvers: [.resolver, .secondResolver],
            facts: [.name(.secondResolver, .silent), .noEcho(.host), .page(.anchor, 204)],
            late: [.ip(.provider, "neigh flush all")],
            variants: Variant.anchored,
            target: "https://host.example/",
            right: .place("host", "hostUnreachable", "silent")
        ),
        Situation(
            name: "ipv6-and-host: the provider drops IPv6, and the host is down",
            steps: [.rule(.provider, "forward", "meta nfproto ipv6 drop"), .deaf(.host, "h0")],
            facts: [.noEcho(.atLarge).only(.ipv6), .noEcho(.host), .page(.anchor, 204).only(.ipv4)],
            late: [.ip(.provider, "neigh flush all")],
            variants: Variant.dual,
            target: "https://host.example/",
            right: .place("host", "hostUnreachable", "silent")
        ),
        Situation(
            name: "port-80-and-trust: port 80 is blocked, and the certificate of the target has expired",
            steps: [.rule(.provider, "forward", "tcp dport 80 drop")],
            sites: Site.anchors() + Site.hosts(.page("host"), .expired(for: "host.example")),
            facts: [.tcp(.anchor, 80, .silent), .chain(.host, "host.example", isGood: false)],
            variants: Variant.anchored,
            anchors: ["https://anchor.example/204", "https://second.example/204"],
            target: "https://host.example/",
            right: .place("tls", "expired")
        ),
        Situation(
            name: "mute-gateway-and-provider-drops: the gateway sends no ICMP, and the provider drops everything",
            steps: [
                .rule(.router, "output", "ip protocol icmp drop"),
                .rule(.router, "output", "icmpv6 type { 1-4, 129 } drop"),
                .rule(.provider, "forward", "drop"),
            ],
            facts: [.noEcho(.gateway), .echo(.provider), .noEcho(.atLarge)],
            variants: Variant.both,
            right: .place("upstream", "silentBeyond", "silent")
        ),
    ]
}
