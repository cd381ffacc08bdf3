import WebLab

/// Faults of certificates.
extension Situation {
    private static func certificate(
        _ name: String,
        _ identity: WebIdentity,
        _ reasons: String...
    ) -> Situation {
        target(
            name,
            row: 31,
            sites: Site.anchors() + Site.hosts(.page("host"), identity),
            facts: [.chain(.host, "host.example", isGood: false), .chain(.anchor, "anchor.example", isGood: true)],
            right: Right(places: ["tls"], reasons: Set(reasons))
        )
    }

    /// The certificate of the only anchor is invalid. Names are answered, so packets pass.
    private static func anchor(_ name: String, _ identity: WebIdentity, _ right: Right) -> Situation {
        anchor(
            name,
            sites: Site.anchors(.anchor, identity) + Site.hosts(),
            facts: [.chain(.anchor, "anchor.example", isGood: false), .tcp(.anchor, 443, .open)],
            right
        )
    }

    private static func anchor(
        _ name: String,
        sites: [Site],
        facts: [Fact],
        _ right: Right,
        url: String = "https://anchor.example/204"
    ) -> Situation {
        Situation(
            name: name,
            sites: sites,
            facts: [.echo(.provider), .name(.resolver, .addresses(1))] + facts,
            variants: Variant.anchored,
            anchors: [url],
            right: right
        )
    }

    /// An anchor that proves nothing is not silent.
    static let anchors = [
        anchor(
            "anchor-untrusted: the only anchor's certificate is from an unknown authority",
            Site.strange,
            .place("tls", "untrusted")
        ),
        anchor(
            "anchor-expired: the only anchor's certificate has expired",
            .expired(for: "anchor.example"),
            .place("tls", "expired")
        ),
        anchor(
            "anchor-early: the only anchor's certificate is not valid yet",
            Site.future,
            .place("thisMachine", "clockWrong")
        ),
        anchor(
            "anchor-404: the only anchor answers 404 over HTTP",
            sites: Site.anchors(.answer(404)) + Site.hosts(),
            facts: [.page(.anchor, 404)],
            .place("inconclusive", "anchorsProveNothing"),
            url: "http://anchor.example/204"
        ),
        anchor(
            "anchor-closed: no server listens at the only anchor's port",
            sites: Site.usual,
            facts: [.tcp(.anchor, 8443, .refused)],
            .place("inconclusive", "anchorsProveNothing"),
            url: "https://anchor.example:8443/204"
        ),
        anchor(
            "anchor-unknown: the only anchor's name does not exist",
            sites: Site.usual,
            facts: [.name(.resolver, "nothere.example", .code(3))],
            .place("dns", "nameNotFound"),
            url: "https://nothere.example/204"
        ),
    ]

    static let trust = [
        certificate(
            "certificate-expired: the certificate of the target has expired",
            .expired(for: "host.example"),
            "expired"
        ),
        certificate("certificate-of-other: the certificate is another name's", .wrongName(), "wrongName"),
        certificate(
            "certificate-untrusted: the certificate is from an unknown authority",
            Site.strange,
            "untrusted"
        ),
        certificate(
            "certificate-self-signed: the certificate is self-signed",
            .selfSigned(for: "host.example"),
            "untrusted"
        ),
        certificate("certificate-early: the certificate is not valid yet", Site.future, "notYetValid"),
        Situation(
            name: "tls-intercepted: a device on the path answers in place of all TLS servers; HTTP passes",
            row: 30,
            steps: Step.redirect(
                .router,
                "iifname r0 tcp dport 443 dnat to 192.168.1.1:443",
                "iifname r0 tcp dport 443 dnat to [3fff:1::1]:443"
            ),
            sites: Site.usual + [Site(.router, 443, .anchor, Site.strange)],
            facts: [.chain(.anchor, "anchor.example", isGood: false), .page(.anchor, 204), .tcp(.nobody, 80, .silent)],
            variants: Variant.anchored,
            anchors: fourAnchors,
            right: .place("tls", "intercepted")
        ),
    ]
}
