package import ServerTrust
import SwiftASN1
package import X509

/// The authorities that most cases share.
package enum World {
    package static let begins = TrustTime(year: 2026, month: 1, day: 1)
    package static let now = TrustTime(year: 2026, month: 6, day: 15, hour: 12)
    package static let ends = TrustTime(year: 2027, month: 1, day: 1)
    package static let host = "example.org"

    package static let root = Blueprint.authority("Root").signed()
    package static let intermediate = Blueprint.authority("Intermediate").signed(by: root)
    package static let leaf = Blueprint.leaf().signed(by: intermediate)

    package static let rsaRoot = Blueprint.authority("RSA Root").with(\.key, .rsa2048[0]).signed()
    package static let rsaIntermediate = Blueprint.authority("RSA Intermediate").with(\.key, .rsa2048[1]).signed(
        by: rsaRoot
    )
    package static let rsaLeaf = Blueprint.leaf().with(\.key, .rsa2048[2]).signed(by: rsaIntermediate)

    /// A root that is not an anchor.
    package static let strangeRoot = Blueprint.authority("Strange Root").signed()
    package static let strangeLeaf = Blueprint.leaf("stranger").signed(by: strangeRoot)

    /// Returns a server certificate that is signed by the shared intermediate.
    package static func leaf(_ change: (inout Blueprint) -> Void) -> Forged {
        var blueprint = Blueprint.leaf()
        change(&blueprint)
        return blueprint.signed(by: intermediate)
    }

    /// Returns a server certificate for names.
    package static func leaf(names: [GeneralName]) -> Forged {
        leaf { $0.names = names }
    }
}

/// Certificates that are valid now, for 100 days and some hours.
package enum TrustWorld {
    package static let begins = TrustTime.now.advanced(by: .seconds(-86_400))
    package static let ends = TrustTime.now.advanced(by: .seconds(100 * 86_400 + 43_200))
    package static let past = TrustTime.now.advanced(by: .seconds(-5 * 86_400 - 43_200))

    package static let root = dated(.authority("Root")).signed()
    package static let intermediate = dated(.authority("Intermediate")).signed(by: root)
    package static let leaf = server("example.org").signed(by: intermediate)
    package static let stranger = dated(.authority("Stranger")).signed()

    /// Returns a server certificate for every host to which the tests connect.
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

extension Blueprint {
    /// The shared time, so that repeated forging has the same result.
    private static let today = TrustTime.now

    /// The blueprint with a validity of eleven days from yesterday. It uses the clock of this machine, because other
    /// programs do.
    package var current: Blueprint {
        with(\.begins, Self.today.advanced(by: .seconds(-86_400)))
            .with(\.ends, Self.today.advanced(by: .seconds(864_000)))
    }
}
