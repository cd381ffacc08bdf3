import ServerTrust
import SwiftASN1
import TrustForge
import X509

extension RevocationCase {
    private static func now(_ seconds: Int64) -> TrustTime { World.now.advanced(by: .seconds(seconds)) }
    private static let past = TrustTime(year: 2026, month: 3, day: 1)
    private static let limitedRoot = Blueprint.authority("Limited").with(\.usage, KeyUsage(keyCertSign: true)).signed()
    private static let limitedLeaf = Blueprint.leaf().signed(by: limitedRoot)

    static let lists: [RevocationCase] = [
        giving("not on the list"),
        giving("other certificates are on the list") { $0.revoke(World.strangeLeaf) },
        givenRevoked("on the list", .keyCompromise) { $0.revoke() },
        givenRevoked("on the list without a reason", nil) { $0.revoke(reason: nil) },
        givenRevoked("on the list, on hold", .certificateHold) { $0.revoke(reason: 6) },
        givenRevoked("on the list as number two hundred", .superseded) { list in
            list.entries = (0..<199).map { index in
                ForgedList.Entry(certificate: World.leaf { $0.name = "number \(index)" })
            }
            list.revoke(reason: 4)
        },
        giving("a list of version 1") { $0.isVersion1 = true },
        giving("an expired list", .expired(now(-1800))) { $0.nextUpdate = .seconds(-1800) },
        giving("a list that expired within the clock tolerance", openSSL: .differs(skew)) {
            $0.nextUpdate = .seconds(-200)
        },
        giving("a list not yet valid", .notYetValid(now(1800))) { $0.thisUpdate = .seconds(1800) },
        giving(
            "a list without nextUpdate",
            .withoutNextUpdate,
            openSSL: .differs("RFC 5280, 5.1.2.5: it is required")
        ) { $0.nextUpdate = nil },
        givenRevoked("on an expired list", .keyCompromise) {
            $0.revoke()
            $0.nextUpdate = .seconds(-1800)
        },
        givenRevoked("on a list without nextUpdate", .keyCompromise) {
            $0.revoke()
            $0.nextUpdate = nil
        },
        giving(
            "on hold, on an expired list",
            .expired(now(-1800)),
            openSSL: .differs("the command continues after reporting the expired list")
        ) {
            $0.revoke(reason: 6)
            $0.nextUpdate = .seconds(-1800)
        },
        giving("a list signed with another key", .badSignature) { $0.key = .p256("pretender") },
        giving("on a list signed with another key", .badSignature) {
            $0.revoke()
            $0.key = .p256("pretender")
        },
        RevocationCase("a list of another authority") {
            $0.list = ForgedList(issuer: World.strangeRoot)
            $0.openSSL = .agrees
            $0.refuse()
        },
        RevocationCase("a list of an authority without cRLSign") {
            $0.chain = [limitedLeaf]
            $0.anchor = limitedRoot
            $0.list = ForgedList(issuer: limitedRoot)
            $0.openSSL = .agrees
            $0.refuse(RevocationObstacle(.mayNotSignLists, from: .list("given")))
        },
        RevocationCase("a list signed with SHA-1") {
            $0.chain = [World.rsaLeaf]
            $0.anchor = World.rsaIntermediate
            $0.list = ForgedList(issuer: World.rsaIntermediate, algorithm: .sha1WithRSAEncryption)
            $0.refuse(RevocationObstacle(.weakSignature("SHA-1 with RSA"), from: .list("given")))
        },
        fetchedList("a fetched list") { _ in },
        RevocationCase("a fetched list in PEM") {
            $0.chain = [RevocationWorld.withList]
            $0.answers = [RevocationWorld.list: .bytes(Array(ForgedList().pem().utf8))]
        },
        RevocationCase("on a fetched list") {
            $0.chain = [RevocationWorld.withList]
            $0.answer(RevocationWorld.list, .revoking())
            $0.revoked(from: .list(RevocationWorld.list))
        },
        RevocationCase("a list from a configured URL") {
            $0.listURLs = ["http://other.example/"]
            $0.answer("http://other.example/", ForgedList())
            $0.asked = ["http://other.example/"]
        },
        fetchedList("fetched: a list of another authority", .otherIssuer) { $0.issuer = World.strangeRoot },
        fetchedList("fetched: an expired list", .expired(now(-1800))) { $0.nextUpdate = .seconds(-1800) },
        fetchedList("fetched: a list with a critical extension", .criticalExtension(identifier: "1.2.3.4")) {
            $0.extensions = [RevocationWorld.strange]
        },
        fetchedList("fetched: an entry with a critical extension", .criticalExtension(identifier: "1.2.3.4")) {
            $0.entries = [ForgedList.Entry(certificate: World.leaf, extensions: [RevocationWorld.strange])]
        },
        fetchedList("fetched: a delta list", .deltaList) {
            let base = Encoded.integer([1])[...]
            $0.extensions = [Certificate.Extension(oid: [2, 5, 29, 27], critical: true, value: base)]
        },
        fetchedList("fetched: an indirect list", .indirectList) { $0.limit(Encoded.node(0x84, [0xff])) },
        fetchedList("fetched: an entry of another authority's", .indirectList) {
            let names = Encoded.sequence(Encoded.node(0xa4, Encoded.der(World.strangeRoot.x509.subject)))
            let issuer = Certificate.Extension(oid: [2, 5, 29, 29], critical: true, value: names[...])
            $0.entries = [ForgedList.Entry(certificate: World.leaf, extensions: [issuer])]
        },
        failing("bytes that are not a list", .bytes([0x30, 0x03, 1, 2, 3]), .malformed("")),
        failing("a huge list", .bytes([UInt8](repeating: 0, count: 8 << 20 + 1)), .tooLarge(limit: 8 << 20)),
        failing("no list", .fails(.status(404)), .httpStatus(404)),
        RevocationCase("a list server that does not answer") {
            $0.chain = [RevocationWorld.withList]
            $0.answers = [RevocationWorld.list: .never]
            $0.isSlow = true
            $0.refuse(RevocationObstacle(.timedOut(.seconds(5)), from: .list(RevocationWorld.list)))
        },
    ]

    private static let skew = "OpenSSL has no clock tolerance for lists"

    private static func givenRevoked(
        _ name: String,
        _ reason: RevocationReason?,
        _ change: (inout ForgedList) -> Void
    ) -> RevocationCase {
        var revocation = giving(name, nil, change)
        revocation.revoked(from: .list("given"), reason: reason)
        return revocation
    }

    private static func failing(
        _ name: String,
        _ answer: FakeFetcher.Answer,
        _ problem: RevocationProblem
    ) -> RevocationCase {
        RevocationCase("fetched: \(name)") {
            $0.chain = [RevocationWorld.withList]
            $0.answers = [RevocationWorld.list: answer]
            $0.refuse(RevocationObstacle(problem, from: .list(RevocationWorld.list)))
        }
    }
}
