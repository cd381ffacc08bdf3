import ServerTrust
import TrustForge

extension RevocationCase {
    private static let yes: [UInt8] = [0xff]
    private static let here = Encoded.tagged(0, RevocationWorld.point(RevocationWorld.list))
    private static let elsewhere = Encoded.tagged(0, RevocationWorld.point("http://crl.example/other"))

    static let scopes: [RevocationCase] = [
        giving("only servers") { $0.limit(Encoded.node(0x81, yes)) },
        giving("only authorities", .outOfScope) { $0.limit(Encoded.node(0x82, yes)) },
        giving("only attribute certificates", .outOfScope) { $0.limit(Encoded.node(0x85, yes)) },
        giving("only some reasons, not on it", .outOfScope) { $0.limit(someReasons) },
        RevocationCase("only some reasons, on it") {
            var list = ForgedList.revoking()
            list.limit(someReasons)
            $0.list = list
            $0.openSSL = .differs("OpenSSL accepts such lists only with -extended_crl")
            $0.revoked(from: .list("given"))
        },
        RevocationCase("only authorities, on it") {
            var list = ForgedList.revoking()
            list.limit(Encoded.node(0x82, yes))
            $0.list = list
            $0.openSSL = .agrees
            $0.refuse(RevocationObstacle(.outOfScope, from: .list("given")))
        },
        giving("only certificates that name its URL", .outOfScope) { $0.limit(here) },
        fetchedList("only certificates that name its URL, as this one does") { $0.limit(here) },
        fetchedList("only certificates that name another URL", .outOfScope) { $0.limit(elsewhere) },
        fetchedList("only servers that name its URL") { $0.limit(here, Encoded.node(0x81, yes)) },
        RevocationCase("only authorities, about an authority") {
            var list = ForgedList()
            list.limit(Encoded.node(0x82, yes))
            $0.chain = [World.leaf, World.intermediate]
            $0.stapled = ForgedResponse(
                subject: World.leaf,
                issuer: World.intermediate,
                signer: World.intermediate
            )
            $0.list = list
        },
        RevocationCase("only servers, about an authority") {
            var list = ForgedList()
            list.limit(Encoded.node(0x81, yes))
            $0.chain = [World.leaf, World.intermediate]
            $0.stapled = ForgedResponse(
                subject: World.leaf,
                issuer: World.intermediate,
                signer: World.intermediate
            )
            $0.list = list
            $0.refuse(RevocationObstacle(.outOfScope, from: .list("given")), subject: "Intermediate")
        },
    ]

    /// keyCompromise.
    private static let someReasons = Encoded.node(0x83, [6, 0x40])
}
