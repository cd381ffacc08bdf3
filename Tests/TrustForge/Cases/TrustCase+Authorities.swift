import ServerTrust
import X509

extension TrustCase {
    static let authorities: [TrustCase] = [
        TrustCase("a server's certificate has signed another") {
            let victim = Blueprint.leaf("evil.example", names: [.dnsName("evil.example")]).signed(
                by: World.intermediate
            )
            $0.send(Blueprint.leaf().signed(by: victim), victim, World.intermediate)
            $0.refuse(.notCertificateAuthority(subject: "evil.example"))
        },
        below(
            .authority("Vague").with(\.authority, nil),
            "an issuer without basicConstraints",
            .notCertificateAuthority(subject: "Vague")
        ),
        below(
            root: .authority("Vague Root").with(\.authority, nil),
            "a root without basicConstraints",
            .notCertificateAuthority(subject: "Vague Root"),
            openSSL: .differs("OpenSSL accepts keyCertSign in keyUsage, except in strict mode")
        ),
        below(bare("First"), "an intermediate of version 1", .notCertificateAuthority(subject: "First")),
        below(root: bare("First Root"), "a root of version 1"),
        TrustCase("path length limit 0, one authority below") {
            let first = Blueprint.authority("Last", pathLength: 0).signed(by: World.root)
            let second = Blueprint.authority("Too many").signed(by: first)
            $0.send(Blueprint.leaf().signed(by: second), second, first)
            $0.refuse(.pathTooLong(subject: "Last", limit: 0))
        },
        below(.authority("Last", pathLength: 0), "path length limit 0, no authority below"),
        TrustCase("path length limit 1 of the root, two authorities below") {
            let root = Blueprint.authority("Narrow", pathLength: 1).signed()
            let first = Blueprint.authority("First").signed(by: root)
            let second = Blueprint.authority("Second").signed(by: first)
            $0.send(Blueprint.leaf().signed(by: second), second, first)
            $0.trust(root)
            $0.refuse(.pathTooLong(subject: "Narrow", limit: 1))
        },
        TrustCase("a self-issued authority does not count") {
            let first = Blueprint.authority("Rolling", pathLength: 0).signed(by: World.root)
            let second = Blueprint.authority("Rolling").with(\.key, .p256("new")).signed(by: first)
            $0.send(Blueprint.leaf().signed(by: second), second, first)
        },
        leaf("an authority as the server") { $0.authority = .isCertificateAuthority(maxPathLength: 0) },
    ]

    /// A certificate without extensions, as before version 3.
    private static func bare(_ name: String) -> Blueprint {
        Blueprint(name: name).with(\.version, .v1)
    }
}
