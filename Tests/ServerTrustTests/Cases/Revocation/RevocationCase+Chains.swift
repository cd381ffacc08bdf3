import ServerTrust
import TrustForge

extension RevocationCase {
    private static let place = "http://root.example/list"
    private static let middle: Forged = {
        var blueprint = Blueprint.authority("Middle")
        blueprint.more = RevocationWorld.extensions(lists: [place])
        return blueprint.signed(by: World.root)
    }()
    private static let leaf = Blueprint.leaf().signed(by: middle)
    private static let own = Blueprint.leaf("selfish").signed()

    static let chains: [RevocationCase] = [
        below("the server by OCSP, the intermediate by a list") { $0.answer(place, ForgedList()) },
        below("the intermediate is revoked") {
            $0.answer(place, .revoking(middle))
            $0.revoked(from: .list(place), subject: "Middle")
        },
        below("the intermediate is revoked, soft") {
            $0.answer(place, .revoking(middle))
            $0.flags = .any
            $0.revoked(from: .list(place), subject: "Middle")
        },
        below("no status of the intermediate") {
            $0.refuse(
                RevocationObstacle(.unreachable("no server is at \(place)"), from: .list(place)),
                subject: "Middle"
            )
        },
        below("no status of the intermediate, soft") { $0.flags = .any },
        below("no status of the server") {
            $0.stapled = nil
            $0.answer(place, ForgedList())
            $0.refuse()
        },
        below("no status of the server, and the intermediate is revoked") {
            $0.stapled = nil
            $0.answer(place, .revoking(middle))
            $0.revoked(from: .list(place), subject: "Middle")
        },
        below("the stapled response is the root's, about the server's serial number") {
            $0.stapled = ForgedResponse(subject: leaf)
            $0.answer(place, ForgedList())
            $0.refuse(RevocationObstacle(.otherCertificate, from: .stapledResponse))
        },
        RevocationCase("the server's certificate is the anchor") {
            $0.chain = [own]
            $0.anchor = own
        },
    ]

    private static func below(_ name: String, _ change: (inout RevocationCase) -> Void) -> RevocationCase {
        RevocationCase(name) {
            $0.chain = [leaf, middle]
            $0.stapled = ForgedResponse(subject: leaf, issuer: middle, signer: middle)
            change(&$0)
        }
    }
}
