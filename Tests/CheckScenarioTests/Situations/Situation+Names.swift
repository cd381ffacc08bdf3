import NetworkLab

/// Faults of name servers.
extension Situation {
    /// Returns a situation with one name server. The rest of the network works.
    private static func server(
        _ id: String,
        _ title: String,
        row: Int? = 33,
        _ behaviour: NameServer.Behaviour,
        _ answer: Fact.Name,
        variants: [Variant] = Variant.addressed,
        right: Right
    ) -> Situation {
        Situation(
            id: id,
            title: title,
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
            "names-silent",
            "the name server is silent",
            row: 32,
            .silent,
            .silent,
            right: .place("dns", "serverSilent")
        ),
        server(
            "names-fail",
            "the name server answers SERVFAIL",
            .serverFailure,
            .code(2),
            variants: told,
            right: .place("dns", "serverFailed")
        ),
        server(
            "names-refused",
            "the name server answers REFUSED",
            .refused,
            .code(5),
            variants: told,
            right: .place("dns", "serverRefused")
        ),
        server(
            "names-malformed",
            "the name server's answers are malformed",
            .malformed,
            .nonsense,
            variants: told,
            right: .place("dns", "malformedAnswer")
        ),
        server(
            "names-of-others",
            "the name server's answers have another identifier",
            .wrongIdentifier,
            .nonsense,
            variants: told,
            right: .place("dns", "mismatchedAnswer", "serverSilent")
        ),
        server(
            "names-to-others",
            "the name server's answers are for other questions",
            .wrongQuestion,
            .nonsense,
            right: .place("dns", "mismatchedAnswer", "serverSilent")
        ),
        server(
            "names-closed",
            "no server listens at the name server's port",
            row: nil,
            .closed,
            .closed,
            variants: told,
            right: .place("dns", "serverClosed")
        ),
        server(
            "names-cut-off",
            "answers are truncated, and TCP port 53 is closed",
            row: 34,
            .truncated(streams: .closed),
            .truncated,
            variants: told,
            right: .place("dns", "truncatedWithoutTCP")
        ),
        server(
            "names-cut-off-silently",
            "answers are truncated, and TCP connections get no answer",
            row: 34,
            .truncated(streams: .silent),
            .truncated,
            right: .place("dns", "truncatedWithoutTCP")
        ),
        server(
            "names-by-tcp",
            "answers are truncated, and complete over TCP",
            row: 34,
            .truncated(streams: .open),
            .truncated,
            variants: told,
            right: .works
        ),
        server(
            "names-only-by-tcp",
            "UDP is silent, and TCP answers",
            row: nil,
            .streamsAlone,
            .silent,
            right: .place("dns", "serverSilent")
        ),
        server(
            "names-slow",
            "the name server takes 1.8 seconds",
            row: 39,
            .slow(.milliseconds(1800)),
            .addresses(1),
            right: .place("degraded")
        ),
        server(
            "names-ignorant",
            "the name server answers NXDOMAIN for all names",
            .ignorant,
            .code(3),
            variants: told,
            right: .place("dns", "knownAnswerDiffers")
        ),
        server(
            "names-alone",
            "the name server is not recursive and has no records",
            .alone,
            .addresses(0),
            variants: told,
            right: .place("dns", "notRecursive")
        ),
        server(
            "names-behind-stranger",
            "a forged datagram precedes each answer",
            row: nil,
            .preceded(by: [0]),
            .nonsense,
            variants: told,
            right: .works
        ),
        Situation(
            id: "names-differ",
            title: "the name server returns a wrong address of a known name",
            row: 33,
            zone: ["ipv4only.arpa": ["10.9.9.9"]],
            facts: [.name(.resolver, "ipv4only.arpa", .addresses(1)).only(.ipv4), .page(.anchor, 204)],
            variants: told,
            right: .place("dns", "knownAnswerDiffers")
        ),
        Situation(
            id: "second-name-server-ignorant",
            title: "the second of two name servers answers NXDOMAIN for all names",
            row: 39,
            secondNames: .ignorant,
            resolvers: [.resolver, .secondResolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .code(3)), .page(.anchor, 204)],
            variants: told,
            right: .place("degraded", "knownAnswerDiffers")
        ),
        Situation(
            id: "names-invented",
            title: "names that do not exist get an address",
            row: 35,
            names: .invents("203.0.113.80", "3fff:4::80"),
            facts: [.name(.resolver, "nowhere.invalid", .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored,
            right: .place("dns", "inventsAnswers")
        ),
        Situation(
            id: "name-is-wrong",
            title: "a name has another address than expected",
            row: 36,
            facts: [.name(.resolver, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored,
            arguments: [
                "--expect-address", "host.example=198.51.100.99", "--expect-address", "host.example=3fff:b::99",
            ],
            right: .place("dns", "wrongAnswer")
        ),
        Situation(
            id: "name-is-right-at-one-server",
            title: "one of two name servers is silent, and the other returns the expected addresses",
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
            id: "name-is-right",
            title: "a name has the expected addresses",
            facts: [.name(.resolver, .addresses(1)), .page(.anchor, 204)],
            variants: Variant.anchored,
            arguments: [
                "--expect-address", "host.example=203.0.113.80", "--expect-address", "host.example=3fff:4::80",
            ],
            right: .works
        ),
        Situation(
            id: "name-unknown",
            title: "the name of the target does not exist",
            row: 37,
            facts: [.name(.resolver, "nothere.example", .code(3)), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://nothere.example/",
            right: .place("dns", "nameNotFound")
        ),
        Situation(
            id: "name-without-address",
            title: "the name of the target has no address",
            facts: [.name(.resolver, "empty.example", .addresses(0)), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://empty.example/",
            right: .place("dns", "noData")
        ),
        Situation(
            id: "name-blocked",
            title: "a filter hides the name of the target, and reports it",
            exceptions: ["host.example": .blocked(15)],
            facts: [.name(.resolver, .code(3)), .page(.anchor, 204)],
            variants: Variant.anchored,
            target: "https://host.example/",
            right: .place("dns", "blockedByPolicy")
        ),
        Situation(
            id: "no-name-server",
            title: "no name server is configured",
            row: 38,
            resolvers: [],
            facts: [.page(.anchor, 204)],
            variants: Variant.addressed,
            right: .place("dns", "noServerConfigured")
        ),
        Situation(
            id: "second-name-server-silent",
            title: "the second of two name servers is silent",
            row: 39,
            secondNames: .silent,
            resolvers: [.resolver, .secondResolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .silent), .page(.anchor, 204)],
            variants: Variant.addressed + [Variant(line: .ipv4, ask: .privately, isNobody: true)],
            right: .place("degraded")
        ),
        Situation(
            id: "first-name-server-silent",
            title: "the first of two name servers is silent",
            row: 39,
            secondNames: .silent,
            resolvers: [.secondResolver, .resolver],
            facts: [.name(.resolver, .addresses(1)), .name(.secondResolver, .silent), .page(.anchor, 204)],
            variants: Variant.anchored,
            right: .place("degraded")
        ),
        Situation(
            id: "names-deaf-to-ipv6",
            title: "AAAA questions are not answered",
            row: 39,
            names: .deafToIPv6,
            facts: [
                .name(.resolver, .addresses(1)).only(.ipv4), .name(.resolver, .silent).only(.ipv6), .page(.anchor, 204),
            ],
            variants: Variant.dual + [Variant(line: .ipv4, ask: .anchors)],
            right: .place("degraded", "unansweredAAAA")
        ),
        Situation(
            id: "no-name-server-at-gateway",
            title: "the gateway is the name server, and no server listens there",
            resolvers: [.gateway],
            facts: [.name(.gateway, .closed), .page(.anchor, 204)],
            variants: told,
            right: .place("dns", "serverClosed")
        ),
        Situation(
            id: "names-prohibited",
            title: "the provider prohibits packets to name servers",
            steps: [.rule(.provider, "forward", "udp dport 53 reject with icmpx admin-prohibited")],
            facts: [.echo(.resolver), .page(.anchor, 204)],
            variants: Variant.addressed,
            right: .place("dns", "serverUnreachable", "prohibited")
        ),
    ]
}
