import ServerTrust
import X509

/// The authorities most cases share.
enum World {
    static let begins = TrustTime(year: 2026, month: 1, day: 1)
    static let now = TrustTime(year: 2026, month: 6, day: 15, hour: 12)
    static let ends = TrustTime(year: 2027, month: 1, day: 1)
    static let host = "example.org"

    static let root = Blueprint.authority("Root").signed()
    static let intermediate = Blueprint.authority("Intermediate").signed(by: root)
    static let leaf = Blueprint.leaf().signed(by: intermediate)

    static let rsaRoot = Blueprint.authority("RSA Root").with(\.key, .rsa2048[0]).signed()
    static let rsaIntermediate = Blueprint.authority("RSA Intermediate").with(\.key, .rsa2048[1]).signed(by: rsaRoot)
    static let rsaLeaf = Blueprint.leaf().with(\.key, .rsa2048[2]).signed(by: rsaIntermediate)

    /// A root nobody trusts.
    static let strangeRoot = Blueprint.authority("Strange Root").signed()
    static let strangeLeaf = Blueprint.leaf("stranger").signed(by: strangeRoot)

    /// A leaf under the shared intermediate.
    static func leaf(_ change: (inout Blueprint) -> Void) -> Forged {
        var blueprint = Blueprint.leaf()
        change(&blueprint)
        return blueprint.signed(by: intermediate)
    }

    /// A leaf for these names.
    static func leaf(names: [GeneralName]) -> Forged {
        leaf { $0.names = names }
    }
}
