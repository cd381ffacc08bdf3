package import ServerTrust
package import X509

/// The authorities most cases share.
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

    /// A root nobody trusts.
    package static let strangeRoot = Blueprint.authority("Strange Root").signed()
    package static let strangeLeaf = Blueprint.leaf("stranger").signed(by: strangeRoot)

    /// A leaf under the shared intermediate.
    package static func leaf(_ change: (inout Blueprint) -> Void) -> Forged {
        var blueprint = Blueprint.leaf()
        change(&blueprint)
        return blueprint.signed(by: intermediate)
    }

    /// A leaf for these names.
    package static func leaf(names: [GeneralName]) -> Forged {
        leaf { $0.names = names }
    }
}
