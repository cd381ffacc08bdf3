package import ServerTrust
import SwiftASN1
import X509

/// Certificates that are valid now, for 100 days and some hours.
package enum TrustWorld {
    package static let begins = TrustTime.now.advanced(by: .seconds(-86_400))
    package static let ends = TrustTime.now.advanced(by: .seconds(100 * 86_400 + 43_200))
    package static let past = TrustTime.now.advanced(by: .seconds(-5 * 86_400 - 43_200))

    package static let root = dated(.authority("Root")).signed()
    package static let intermediate = dated(.authority("Intermediate")).signed(by: root)
    package static let leaf = server("example.org").signed(by: intermediate)
    package static let stranger = dated(.authority("Stranger")).signed()

    /// A server's certificate for every host that the tests connect to.
    package static func server(_ name: String) -> Blueprint {
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
