import WebLab

/// What is wrong with certificates.
extension Situation {
    private static func certificate(
        _ id: String,
        _ title: String,
        _ identity: WebIdentity,
        _ reasons: String...
    ) -> Situation {
        target(
            id,
            title,
            row: 31,
            sites: Site.anchors() + Site.hosts(.page("host"), identity),
            facts: [.chain(.host, "host.example", isGood: false), .chain(.anchor, "anchor.example", isGood: true)],
            right: Right(places: ["tls"], reasons: Set(reasons))
        )
    }

    static let trust = [
        certificate(
            "certificate-expired",
            "the certificate of the target has expired",
            .expired(for: "host.example"),
            "expired"
        ),
        certificate("certificate-of-other", "the certificate is another name's", .wrongName(), "wrongName"),
        certificate(
            "certificate-untrusted",
            "the certificate is of an authority that nobody knows",
            Site.strange,
            "untrusted"
        ),
        certificate(
            "certificate-self-signed",
            "the certificate is signed by itself",
            .selfSigned(for: "host.example"),
            "untrusted"
        ),
        certificate("certificate-early", "the certificate is not valid yet", Site.future, "notYetValid"),
        Situation(
            id: "tls-intercepted",
            title: "somebody on the way answers for all TLS servers; HTTP is left alone",
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
