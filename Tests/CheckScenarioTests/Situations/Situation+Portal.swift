import WebLab

/// Captive portals that require a login.
extension Situation {
    private static let login = "http://portal.example/login"

    /// The rules of typical captive portals: they answer in place of all hosts at port 80, let DNS pass, and drop the rest.
    private static let captured =
        Step.redirect(
            .router,
            "iifname r0 ip daddr != 192.168.1.1 tcp dport 80 dnat to 192.168.1.1:80",
            "iifname r0 ip6 daddr != 3fff:1::1 tcp dport 80 dnat to [3fff:1::1]:80"
        ) + closed

    private static let closed: [Step] = [
        .rule(.router, "forward", "iifname r1 accept"), .rule(.router, "forward", "udp dport 53 accept"),
        .rule(.router, "forward", "drop"),
    ]

    private static func captive(
        _ name: String,
        row: Int,
        _ answer: WebBehaviour,
        _ status: Int
    ) -> Situation {
        Situation(
            name: name,
            row: row,
            steps: captured,
            sites: Site.usual + [Site(.router, 80, answer)],
            facts: [
                .echo(.gateway), .noEcho(.provider), .page(.anchor, status), .page(.nobody, status),
                .tcp(.anchor, 443, .silent), .name(.resolver, .addresses(1)),
            ],
            right: .place("portal")
        )
    }

    /// An answer of a captive portal is not an answer of the target.
    private static func captive(_ id: String, target: String, _ variants: [Variant]) -> Situation {
        Situation(
            name: "\(id): a portal answers in place of the target \(target)",
            row: 22,
            steps: captured,
            sites: Site.usual + [Site(.router, 80, .redirect(to: login))],
            facts: [.page(.host, 302), .page(.nobody, 302), .tcp(.anchor, 443, .silent)],
            variants: variants,
            target: target,
            right: .place("portal")
        )
    }

    private static let asked = [
        Variant(line: .ipv4, ask: .plainly, isNobody: true), Variant(line: .ipv6, ask: .plainly),
        Variant(line: .dual, ask: .plainly), Variant(line: .ipv4, ask: .anchors),
    ]

    /// Returns a situation with a captive portal API (RFC 8908) at the router, which is given to the command.
    private static func announced(
        _ name: String,
        row: Int? = nil,
        steps: [Step],
        _ document: String,
        facts: [Fact],
        right: Right
    ) -> Situation {
        Situation(
            name: name,
            row: row,
            steps: steps,
            sites: Site.usual + [
                Site(.router, 443, .portalAPI(document), Site.good)
            ],
            facts: facts + [
                .chain(.other("192.168.1.1"), "portal.example", isGood: true).only(.ipv4),
                .chain(.other("3fff:1::1"), "portal.example", isGood: true).only(.ipv6),
            ],
            variants: Variant.both,
            arguments: ["--portal-api", "https://portal.example/api"],
            // The check reads 16 KiB. On a busy machine each segment has an acknowledgement of its own.
            mostPackets: document.utf8.count > 16384 ? 80 : nil,
            right: right
        )
    }

    static let portal = [
        captive("portal-redirects: a portal redirects", row: 22, .redirect(to: login), 302),
        captive("portal-page: a portal shows its page", row: 22, .page("<html>please log in</html>"), 200),
        captive("portal-511: a portal answers 511", row: 22, .authenticationRequired, 511),
        captive("portal-fakes-204: a portal fakes the answer of an anchor", row: 23, .faked, 204),
        captive("portal-for-page", target: "http://host.example/", asked),
        captive("portal-for-port", target: "host.example:80", asked),
        captive("portal-for-address", target: "203.0.113.80", [asked[0], asked[3]]),
        Situation(
            name: "portal-and-neighbour: the target is the router, and a portal intercepts the rest",
            steps: captured,
            sites: Site.usual + [Site(.router, 80, .page("router"))],
            facts: [.page(.nobody, 200), .page(.other("192.168.1.1"), 200)],
            variants: [asked[0], asked[3]],
            target: "http://192.168.1.1/",
            right: .works
        ),
        Situation(
            name: "portal-allows-anchor: a portal lets one of the anchors pass",
            row: 24,
            steps: [
                .rule(.router, "forward", "ip daddr 198.51.100.11 tcp dport 80 accept"),
                .rule(.router, "forward", "ip6 daddr 3fff:b::11 tcp dport 80 accept"),
            ]
                + Step.redirect(
                    .router,
                    "iifname r0 ip daddr != { 192.168.1.1, 198.51.100.11 } tcp dport 80 dnat to 192.168.1.1:80",
                    "iifname r0 ip6 daddr != { 3fff:1::1, 3fff:b::11 } tcp dport 80 dnat to [3fff:1::1]:80"
                ) + closed,
            sites: Site.usual + [Site(.router, 80, .redirect(to: login))],
            facts: [.page(.anchor, 204), .page(.secondAnchor, 302), .page(.nobody, 302), .tcp(.anchor, 443, .silent)],
            variants: Variant.anchored,
            anchors: ["http://anchor.example/204", "http://second.example/204"],
            right: .place("portal")
        ),
        Situation(
            name: "portal-by-names: a portal returns its own address for all names, and drops the rest",
            row: 25,
            steps: closed,
            names: .portal("192.168.1.1", "3fff:1::1"),
            sites: Site.usual + [Site(.router, 80, .redirect(to: login))],
            facts: [
                .name(.resolver, .addresses(1)), .name(.resolver, "nowhere.invalid", .addresses(1)), .noEcho(.provider),
                .page(.other("192.168.1.1"), 302).only(.ipv4), .page(.other("3fff:1::1"), 302).only(.ipv6),
            ],
            right: .place("portal")
        ),
        Situation(
            name: "portal-in-tls: a portal also answers at port 443, with its own certificate",
            row: 26,
            steps: captured
                + Step.redirect(
                    .router,
                    "iifname r0 ip daddr != 192.168.1.1 tcp dport 443 dnat to 192.168.1.1:443",
                    "iifname r0 ip6 daddr != 3fff:1::1 tcp dport 443 dnat to [3fff:1::1]:443"
                ),
            sites: Site.usual + [
                Site(.router, 80, .redirect(to: login)), Site(.router, 443, .redirect(to: login), Site.strange),
            ],
            facts: [.page(.anchor, 302), .chain(.secondAnchor, "second.example", isGood: false)],
            right: .place("portal")
        ),
        announced(
            "portal-says-so: the captive portal API reports captive, and nothing is intercepted",
            row: 27,
            steps: closed,
            #"{"captive":true,"user-portal-url":"https://portal.example/login","seconds-remaining":0}"#,
            facts: [.noEcho(.provider), .tcp(.anchor, 80, .silent)],
            right: .place("portal")
        ),
        announced(
            "portal-says-open: the captive portal API reports open, and the provider drops everything",
            row: 28,
            steps: [.rule(.provider, "forward", "drop")],
            #"{"captive":false}"#,
            facts: [.echo(.provider), .noEcho(.atLarge)],
            right: .place("upstream", "silentBeyond", "silent")
        ),
        announced(
            "portal-document-large: the captive portal API's answer is too large, and everything works",
            steps: [],
            #"{"captive":true,"x":""# + String(repeating: "x", count: 1_500_000) + #""}"#,
            facts: [.page(.anchor, 204)],
            right: .works
        ),
        announced(
            "portal-document-no-json: the captive portal API's answer is not JSON, and everything works",
            steps: [],
            #"{"captive":tru"#,
            facts: [.page(.anchor, 204)],
            right: .works
        ),
        Situation(
            name:
                "portal-document-plain: the captive portal API over plain HTTP, which RFC 8908 forbids, reports captive",
            sites: Site.usual + [Site(.router, 80, .portalAPI(#"{"captive":true}"#))],
            facts: [.page(.anchor, 204), .page(.other("192.168.1.1"), 200)],
            variants: Variant.onlyIPv4,
            arguments: ["--portal-api", "http://portal.example/api"],
            right: .works
        ),
        Situation(
            name:
                "portal-document-of-stranger: the captive portal API reports captive with an untrusted certificate; everything works",
            sites: Site.usual + [
                Site(.router, 443, .portalAPI(#"{"captive":true}"#), .otherAuthority(for: "portal.example"))
            ],
            facts: [
                .page(.anchor, 204), .chain(.other("192.168.1.1"), "portal.example", isGood: false),
            ],
            variants: Variant.onlyIPv4,
            arguments: ["--portal-api", "https://portal.example/api"],
            right: .works
        ),
        Situation(
            name: "portal-opens: a portal opens after the login",
            row: 22,
            steps: captured,
            sites: Site.usual + [Site(.router, 80, .redirect(to: login))],
            facts: [.page(.anchor, 302), .tcp(.anchor, 443, .silent)],
            variants: Variant.both,
            right: .place("portal"),
            sequel: Sequel(
                steps: [
                    .mend(.router), Step(station: .router, command: .nft("flush chain ip nat prerouting")),
                    Step(station: .router, command: .nft("flush chain ip6 nat prerouting")),
                ],
                facts: [.page(.anchor, 204), .tcp(.anchor, 443, .open)],
                right: .works
            )
        ),
        Situation(
            name: "portal-closes: a session at a portal ends",
            row: 22,
            sites: Site.usual + [Site(.router, 80, .redirect(to: login))],
            facts: [.page(.anchor, 204)],
            variants: Variant.both,
            right: .works,
            sequel: Sequel(
                steps: captured,
                facts: [.page(.anchor, 302), .tcp(.anchor, 443, .silent)],
                right: .place("portal")
            )
        ),
    ]
}
