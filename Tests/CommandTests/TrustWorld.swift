import ServerTrust
import SwiftASN1
import TrustForge
import X509

/// Certificates that are good now, for 100 days and some hours.
enum TrustWorld {
    static let begins = TrustTime.now.advanced(by: .seconds(-86_400))
    static let ends = TrustTime.now.advanced(by: .seconds(100 * 86_400 + 43_200))
    static let past = TrustTime.now.advanced(by: .seconds(-5 * 86_400 - 43_200))

    static let root = dated(.authority("Root")).signed()
    static let intermediate = dated(.authority("Intermediate")).signed(by: root)
    static let leaf = server("example.org").signed(by: intermediate)
    static let stranger = dated(.authority("Stranger")).signed()

    /// For every host that the tests ask for.
    static func server(_ name: String) -> Blueprint {
        let names: [GeneralName] = [
            .dnsName("example.org"), .dnsName("xn--bcher-kva.example"), address([127, 0, 0, 1]),
            address(Array(repeating: 0, count: 15) + [1]),
        ]
        return dated(.leaf(name, names: names))
    }

    private static func dated(_ blueprint: Blueprint) -> Blueprint {
        blueprint.with(\.begins, begins).with(\.ends, ends)
    }

    private static func address(_ bytes: [UInt8]) -> GeneralName {
        .ipAddress(ASN1OctetString(contentBytes: ArraySlice(bytes)))
    }
}
