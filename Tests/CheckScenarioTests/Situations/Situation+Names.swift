import NetworkLab

/// Faults of name servers. `NameProbeTests` tests every known behaviour of a server.
extension Situation {
    /// Returns a situation with one name server. The rest of the network works.
    private static func server(
        _ name: String,
        row: Int? = 33,
        _ behaviour: NameServer.Behaviour,
        _ answer: Fact.Name,
        variants: [Variant] = Variant.addressed,
        right: Right
    ) -> Situation {
        Situation(
            name: name,
            row: row,
            names: behaviour,
            facts: [.name(.resolver, answer), .echo(.resolver), .page(.anchor, 204)],
            variants: variants,
            right: right
        )
    }

    private static let told = Variant.addressed + [Variant(line: .ipv4, ask: .privately, isNobody: true)]

    static let nameService = [
        server(
            "names-silent: the name server is silent",
            row: 32,
            .silent,
            .silent,
            right: .place("dns", "serverSilent")
        ),
        server(
            "names-fail: the name server answers SERVFAIL",
            .serverFailure,
            .code(2),
            variants: told,
            right: .place("dns", "serverFailed")
        ),
        server(
            "names-of-others: the name server's answers have another identifier",
            .wrongIdentifier,
            .nonsense,
            variants: told,
            right: .place("dns", "mismatchedAnswer", "serverSilent")
        ),
        server(
            "names-cut-off: answers are truncated, and TCP port 53 is closed",
            row: 34,
            .truncated(streams: .closed),
            .truncated,
            variants: told,
            right: .place("dns", "truncatedWithoutTCP")
        ),
        server(
            "names-by-tcp: answers are truncated, and complete over TCP",
            row: 34,
            .truncated(streams: .open),
            .truncated,
            variants: told,
            right: .works
        ),
        server(
            "names-slow: the name server takes 1.8 seconds",
            row: 39,
            .slow(.milliseconds(1800)),
            .addresses(1),
            right: .place("degraded")
        ),
        Situation(
            name: "names-differ: the name server returns a wrong address of a known name",
            row: 33,
            zone: ["ipv4only.arpa": ["10.9.9.9"]],
            facts: [.name(.resolver, "ipv4only.arpa", .addresses(1)).only(.ipv4), .page(.anchor, 204)],
            variants: told,
            right: .place("dns", "knownAnswerDiffers")
        ),
        Situation(
            name: "second-name-server-ignorant: the second of two name servers answers NXDOMAIN for all names",
            row: 39,
            secondNames: .ignorant,
            resolvers: [.resolver, .secondResolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .code(3)), .page(.anchor, 204)],
            variants: told,
            right: .place("degraded", "knownAnswerDiffers")
        ),
        Situation(
            name: "names-invented: names that do not exist get an address",
            row: 35,
            names: .invents("203.0.113.80", "3fff:4::80"),
            facts: [.name(.resolver, "nowhere.invalid", .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored,
            right: .place("dns", "inventsAnswers")
        ),
        Situation(
            name: "name-is-wrong: a name has another address than expected",
            row: 36,
            facts: [.name(.resolver, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored,
            arguments: [
                "--expect-address", "host.example=198.51.100.99", "--expect-address", "host.example=3fff:b::99",
            ],
            right: .place("dns", "wrongAnswer")
        ),
        Situation(
            name:
                "name-is-right-at-one-server: one of two name servers is silent, and the other returns the expected addresses",
            secondNames: .silent,
            resolvers: [.resolver, .secondResolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .silent), .page(.anchor, 204)],
            variants: Variant.addressed,
            arguments: [
                "--expect-address", "host.example=203.0.113.80", "--expect-address", "host.example=3fff:4::80",
            ],
            right: .place("degraded", "serverSilent")
        ),
        Situation(
            name: "name-is-right: a name has the expected addresses",
            facts: [.name(.resolver, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored,
            arguments: [
                "--expect-address", "host.example=203.0.113.80", "--expect-address", "host.example=3fff:4::80",
            ],
            right: .works
        ),
        Situation(
            name: "name-unknown: the name of the target does not exist",
            row: 37,
            facts: [.name(.resolver, "nothere.example", .code(3)), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://nothere.example/",
            right: .place("dns", "nameNotFound")
        ),
        Situation(
            name: "name-without-address: the name of the target has no address",
            facts: [.name(.resolver, "empty.example", .addresses(0)), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://empty.example/",
            right: .place("dns", "noData")
        ),
        Situation(
            name: "name-blocked: a filter hides the name of the target, and reports it",
            exceptions: ["host.example": .blocked(15)],
            facts: [.name(.resolver, .code(3)), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://host.example/",
            right: .place("dns", "blockedByPolicy")
        ),
        Situation(
            name: "no-name-server: no name server is configured",
            row: 38,
            resolvers: [],
            facts: [.page(.anchor, 204)],
            variants: Variant.addressed,
            right: .place("dns", "noServerConfigured")
        ),
        Situation(
            name: "second-name-server-silent: the second of two name servers is silent",
            row: 39,
            secondNames: .silent,
            resolvers: [.resolver, .secondResolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .silent), .page(.anchor, 204)],
            variants: Variant.addressed + [Variant(line: .ipv4, ask: .privately, isNobody: true)],
            right: .place("degraded")
        ),
        Situation(
            name: "first-name-server-silent: the first of two name servers is silent",
            row: 39,
            secondNames: .silent,
            resolvers: [.secondResolver, .resolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .silent), .page(.anchor, 204)],
            variants: Variant.anchored,
            right: .place("degraded")
        ),
        Situation(
            name: "names-deaf-to-ipv6: AAAA questions are not answered",
            row: 39,
            names: .deafToIPv6,
            facts: [
                .name(.resolver, .addresses(1)).only(.ipv4), .name(.resolver, .silent).only(.ipv6), .page(.anchor, 204),
            ],
            variants: Variant.dual + [Variant(line: .ipv4, ask: .anchors)],
            right: .place("degraded", "unansweredAAAA")
        ),
        Situation(
            name: "no-name-server-at-gateway: the gateway is the name server, and no server listens there",
            resolvers: [.gateway],
            facts: [.name(.gateway, .closed), .page(.anchor, 204)],
            variants: told,
            right: .place("dns", "serverClosed")
        ),
        Situation(
            name: "names-prohibited: the provider prohibits packets to name servers",
            steps: [.rule(.provider, "forward", "udp dport 53 reject with icmpx admin-prohibited")],
            facts: [.echo(.resolver), .page(.anchor, 204)],
            variants: Variant.addressed,
            right: .place("dns", "serverUnreachable", "prohibited")
        ),
    ]
}
