import ServerTrust
import SwiftASN1
import X509

extension TrustCase {
    static let extensions: [TrustCase] = [
        TrustCase("an unknown critical extension") {
            $0.send(World.leaf { $0.more = [unknown(isCritical: true)] }, World.intermediate)
            $0.refuse(.criticalExtension(subject: World.host, identifier: "1.3.6.1.4.1.99999.1"))
        },
        TrustCase("an unknown critical extension of an intermediate") {
            let middle = Blueprint.authority("Odd").with(\.more, [unknown(isCritical: true)]).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.criticalExtension(subject: "Odd", identifier: "1.3.6.1.4.1.99999.1"))
        },
        TrustCase("an unknown extension") {
            $0.send(World.leaf { $0.more = [unknown(isCritical: false)] }, World.intermediate)
        },
        TrustCase("critical certificatePolicies") {
            // One policy, 2.23.140.1.2.1.
            let value: [UInt8] = [0x30, 0x0a, 0x30, 0x08, 0x06, 0x06, 0x67, 0x81, 0x0c, 0x01, 0x02, 0x01]
            let policies = Certificate.Extension(oid: [2, 5, 29, 32], critical: true, value: value[...])
            $0.send(World.leaf { $0.more = [policies] }, World.intermediate)
        },
        TrustCase("critical policyConstraints") {
            // requireExplicitPolicy 0.
            let value: [UInt8] = [0x30, 0x03, 0x80, 0x01, 0x00]
            let policies = Certificate.Extension(oid: [2, 5, 29, 36], critical: true, value: value[...])
            let middle = Blueprint.authority("Strict").with(\.more, [policies]).signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.criticalExtension(subject: "Strict", identifier: "2.5.29.36"))
            $0.openSSL = .differs("policies are not processed, so certificates that require them are refused")
        },
        TrustCase("extensions in version 1") {
            let leaf = World.leaf { $0.version = .v1 }
            $0.send(leaf, World.intermediate)
            $0.refuse(.extensionsInVersion1(subject: World.host))
            $0.openSSL = .differs("RFC 5280, 4.1.2.1: only version 3 has extensions")
        },
        TrustCase("unreadable basicConstraints") {
            let broken = Certificate.Extension(
                oid: [2, 5, 29, 19],
                critical: true,
                value: [0x30, 0x03, 0x01, 0x01][...]
            )
            let middle = Blueprint.authority("Broken").with(\.authority, nil).with(\.more, [broken])
                .signed(by: World.root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.refuse(.unreadableExtension(subject: "Broken", name: "basicConstraints"))
        },
        TrustCase("unreadable subjectAltName") {
            let broken = Certificate.Extension(
                oid: [2, 5, 29, 17],
                critical: false,
                value: [0x30, 0x03, 0x82, 0x05][...]
            )
            let leaf = World.leaf {
                $0.names = []
                $0.more = [broken]
            }
            $0.send(leaf, World.intermediate)
            $0.refuse(.unreadableExtension(subject: World.host, name: "subjectAltName"))
        },
    ]

    private static func unknown(isCritical: Bool) -> Certificate.Extension {
        Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 99_999, 1], critical: isCritical, value: [0x05, 0x00][...])
    }
}
