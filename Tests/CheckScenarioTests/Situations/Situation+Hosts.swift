import WebLab

/// Faults of the target and its certificate. The uplink works, and the anchors prove it.
extension Situation {
    /// - Parameter target: The target of the check.
    static func target(
        _ name: String,
        row: Int? = nil,
        steps: [Step] = [],
        sites: [Site] = Site.usual,
        facts: [Fact],
        late: [Step] = [],
        variants: [Variant] = Variant.anchored,
        _ target: String = "https://host.example/",
        right: Right
    ) -> Situation {
        Situation(
            name: name,
            row: row,
            steps: steps,
            sites: sites,
            facts: facts + [.page(.anchor, 204)],
            late: late,
            variants: variants,
            target: target,
            right: right
        )
    }

    private static let neighbours = Step.rule(.host, "input", "icmpv6 type { 133-136 } accept")

    static let hosts = [
        target(
            "host-off: the host is down",
            row: 40,
            steps: [.deaf(.host, "h0")],
            facts: [.noEcho(.host)],
            late: [.ip(.provider, "neigh flush all")],
            right: .place("host", "hostUnreachable", "silent")
        ),
        target(
            "host-off-no-anchors: the host is down, and no anchor is used",
            row: 40,
            steps: [.deaf(.host, "h0")],
            facts: [.noEcho(.host)],
            late: [.ip(.provider, "neigh flush all")],
            variants: [Variant(line: .ipv4, ask: .plainly, isNobody: true), Variant(line: .ipv6, ask: .plainly)],
            right: .place("host", "hostUnreachable", "silent")
        ),
        target(
            "host-silent: the host drops everything",
            row: 40,
            steps: [neighbours, .rule(.host, "input", "drop")],
            facts: [.noEcho(.host), .tcp(.host, 443, .silent)],
            right: .place("host", "silent")
        ),
        target(
            "host-without-route: the provider has no route to the host",
            steps: [
                .ip(.provider, "route add unreachable 203.0.113.80/32"),
                .ip(.provider, "route add unreachable 3fff:4::80/128 metric 1"),
            ],
            facts: [.noEcho(.host), .tcp(.host, 443, .unreachable)],
            right: .place("host", "hostUnreachable", "noRouteBeyond", "noRoute")
        ),
        target(
            "host-in-loop: two routers forward packets to the host to each other",
            steps: [
                .ip(.provider, "route add 203.0.113.80/32 via 100.70.3.2"),
                .ip(.provider, "route add 3fff:4::80/128 via 3fff:3::2"),
                .sysctl(.internet, "net.ipv4.ip_forward", "1"), .sysctl(.internet, "net.ipv6.conf.all.forwarding", "1"),
            ],
            facts: [.noEcho(.host), .tcp(.host, 443, .unreachable)],
            right: Right(places: ["host", "upstream"], reasons: ["hopLimitExceeded"])
        ),
        target(
            "host-port-filtered: the host drops packets to the port, and answers echoes",
            row: 41,
            steps: [.rule(.host, "input", "tcp dport 443 drop")],
            facts: [.echo(.host), .tcp(.host, 443, .silent)],
            right: .place("host", "portFiltered", "silent")
        ),
        target(
            "host-prohibits: the host's own firewall reports prohibited",
            row: 42,
            steps: [.rule(.host, "input", "tcp dport 443 reject with icmpx admin-prohibited")],
            facts: [.echo(.host), .tcp(.host, 443, .unreachable)],
            right: .place("host", "prohibited")
        ),
        target(
            "host-rejects: the host's own firewall reports port unreachable",
            row: 42,
            steps: [.rule(.host, "input", "tcp dport 443 reject with icmpx port-unreachable")],
            facts: [.echo(.host), .tcp(.host, 443, .refused)],
            right: Right(places: ["host", "service"], reasons: ["refusedByFirewall", "prohibited", "refused"])
        ),
        target(
            "host-rejected-upstream: a firewall before the host reports prohibited",
            steps: [
                .rule(.provider, "forward", "ip daddr 203.0.113.80 reject with icmpx admin-prohibited"),
                .rule(.provider, "forward", "ip6 daddr 3fff:4::80 reject with icmpx admin-prohibited"),
            ],
            facts: [.noEcho(.host), .tcp(.host, 443, .unreachable)],
            right: .place("host", "prohibited")
        ),
        target(
            "host-answers-echo: the target answers an echo",
            facts: [.echo(.host)],
            variants: [Variant(line: .ipv4, ask: .anchors), Variant(line: .ipv6, ask: .plainly)],
            "icmp://host.example",
            right: .works
        ),
        target(
            "host-is-address: the target is an address and a port, and answers",
            facts: [.tcp(.host, 443, .open)],
            variants: [Variant(line: .ipv4, ask: .anchors, isNobody: true)],
            "203.0.113.80:443",
            right: .works
        ),
        target(
            "host-answers-plainly: the target answers over HTTP, and no device intercepts",
            facts: [.page(.host, 200), .tcp(.nobody, 80, .silent)],
            variants: [
                Variant(line: .ipv4, ask: .plainly, isNobody: true), Variant(line: .dual, ask: .plainly),
                Variant(line: .ipv6, ask: .anchors),
            ],
            "http://host.example/",
            right: .works
        ),
        target(
            "host-is-server: the target is a name at a DNS server that has it",
            facts: [.name(.secondResolver, .addresses(1))],
            variants: [Variant(line: .ipv4, ask: .anchors, isNobody: true)],
            "dns://198.51.100.54/host.example",
            right: .works
        ),
    ]

    static let services = [
        target(
            "port-closed: no server listens at the port",
            row: 43,
            facts: [.echo(.host), .tcp(.host, 8443, .refused)],
            "tcp://host.example:8443",
            right: .place("service", "refused")
        ),
        target(
            "service-hangs: the server accepts the request, and does not answer",
            row: 44,
            sites: Site.anchors() + Site.hosts(.silentRequest),
            facts: [.tcp(.host, 80, .open), .page(.host, nil), .echo(.host)],
            variants: Variant.onlyIPv4,
            "http://host.example/",
            right: .place("service", "stalled", "silent")
        ),
        target(
            "service-hangs-in-tls: the server completes the TLS handshake, accepts the request, and does not answer",
            row: 44,
            sites: Site.anchors() + Site.hosts(.silentRequest),
            facts: [.chain(.host, "host.example", isGood: true)],
            variants: Variant.onlyIPv6,
            right: .place("service", "stalled", "silent")
        ),
        target(
            "service-closes: the server closes the connection without an answer",
            row: 44,
            sites: Site.anchors() + Site.hosts(.closedRequest),
            facts: [.tcp(.host, 80, .open), .page(.host, nil)],
            "http://host.example/",
            right: .place("service", "closedWithoutAnswer", "reset")
        ),
        target(
            "service-no-http: the server uses another protocol",
            row: 44,
            sites: Site.anchors() + Site.hosts(.bytes(Array("SSH-2.0-lab\r\n".utf8))),
            facts: [.tcp(.host, 80, .open)],
            variants: Variant.onlyIPv4,
            "http://host.example/",
            right: .place("service", "notHTTP")
        ),
        target(
            "service-503: the server answers 503",
            row: 44,
            sites: Site.anchors() + Site.hosts(.answer(503)),
            facts: [.page(.host, 503)],
            right: .place("service", "statusNotExpected")
        ),
        target(
            "handshake-hangs: the server accepts the connection, and does not answer the handshake",
            row: 44,
            sites: Site.anchors() + [Site(.host, 443, .silentConnection)],
            facts: [.tcp(.host, 443, .open), .echo(.host)],
            right: Right(places: ["service", "tls"], reasons: ["handshakeSilent", "stalled"])
        ),
        target(
            "no-tls: the server uses HTTP where TLS is expected",
            row: 44,
            sites: Site.anchors() + Site.hosts() + [
                Site(.host, 8443, .bytes(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)))
            ],
            facts: [.page(.host, 8443, 400)],
            variants: Variant.onlyIPv4,
            "https://host.example:8443/",
            right: Right(places: ["service", "tls"], reasons: ["notTLS"])
        ),
    ]
}
