import ServerTrust
import SwiftASN1
import X509

extension TrustCase {
    static let extensions: [TrustCase] = [
        leaf(
            "an unknown critical extension",
            .criticalExtension(subject: World.host, identifier: "1.3.6.1.4.1.99999.1")
        ) { $0.more = [unknown(isCritical: true)] },
        below(
            .authority("Odd").with(\.more, [unknown(isCritical: true)]),
            "an unknown critical extension of an intermediate",
            .criticalExtension(subject: "Odd", identifier: "1.3.6.1.4.1.99999.1")
        ),
        leaf("an unknown extension") { $0.more = [unknown(isCritical: false)] },
        leaf("critical certificatePolicies") {
            // One policy, 2.23.140.1.2.1.
            let value: [UInt8] = [0x30, 0x0a, 0x30, 0x08, 0x06, 0x06, 0x67, 0x81, 0x0c, 0x01, 0x02, 0x01]
            $0.more = [Certificate.Extension(oid: [2, 5, 29, 32], critical: true, value: value[...])]
        },
        below(
            // requireExplicitPolicy 0.
            .authority("Strict").with(\.more, [extended([2, 5, 29, 36], [0x30, 0x03, 0x80, 0x01, 0x00])]),
            "critical policyConstraints",
            .criticalExtension(subject: "Strict", identifier: "2.5.29.36"),
            openSSL: .differs("policies are not processed, so certificates that require them are refused")
        ),
        leaf(
            "extensions in version 1",
            .extensionsInVersion1(subject: World.host),
            openSSL: .differs("RFC 5280, 4.1.2.1: only version 3 has extensions")
        ) { $0.version = .v1 },
        below(
            .authority("Broken").with(\.authority, nil)
                .with(\.more, [extended([2, 5, 29, 19], [0x30, 0x03, 0x01, 0x01])]),
            "unreadable basicConstraints",
            .unreadableExtension(subject: "Broken", name: "basicConstraints")
        ),
        leaf("unreadable subjectAltName", .unreadableExtension(subject: World.host, name: "subjectAltName")) {
            $0.names = []
            $0.more = [extended([2, 5, 29, 17], [0x30, 0x03, 0x82, 0x05], isCritical: false)]
        },
    ]

    private static func unknown(isCritical: Bool) -> Certificate.Extension {
        extended([1, 3, 6, 1, 4, 1, 99_999, 1], [0x05, 0x00], isCritical: isCritical)
    }

    private static func extended(
        _ identifier: ASN1ObjectIdentifier,
        _ value: [UInt8],
        isCritical: Bool = true
    ) -> Certificate.Extension {
        Certificate.Extension(oid: identifier, critical: isCritical, value: value[...])
    }
}
