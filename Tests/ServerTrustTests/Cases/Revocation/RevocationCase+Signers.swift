import ServerTrust
import TrustForge
import X509

extension RevocationCase {
    private static let past = TrustTime(year: 2026, month: 3, day: 1)
    private static let future = TrustTime(year: 2026, month: 9, day: 1)
    private static let good = RevocationWorld.delegate()
    private static let otherPurpose = RevocationWorld.delegate { $0.purposes = [.serverAuth] }
    private static let anyPurpose = RevocationWorld.delegate { $0.purposes = [.any] }
    private static let noPurpose = RevocationWorld.delegate { $0.purposes = [] }
    private static let expired = RevocationWorld.delegate { $0.ends = past }
    private static let early = RevocationWorld.delegate { $0.begins = future }
    private static let wrongUsage = RevocationWorld.delegate { $0.usage = KeyUsage(keyCertSign: true) }
    private static let critical = RevocationWorld.delegate { $0.more = [RevocationWorld.strange] }
    private static let unchecked = RevocationWorld.delegate { $0.more = [RevocationWorld.noCheck] }
    private static let ofIntermediate = RevocationWorld.delegate(by: World.intermediate)
    private static let ofStranger = RevocationWorld.delegate(by: World.strangeRoot)
    private static let pretender = RevocationWorld.delegate(by: World.root.inHands(of: .p256("pretender")))

    static let signers: [RevocationCase] = [
        stapling("by a responder of the issuer's") { $0.delegate(to: good) },
        stapling("by a responder of the issuer's, named by its key") {
            $0.delegate(to: good)
            $0.responder = .key
        },
        revoking("revoked, by a responder of the issuer's") { $0.delegate(to: good) },
        stapling("by a responder of the issuer whose certificate is not sent", .unauthorizedSigner) {
            $0.signer = good
        },
        stapling("by a certificate of the issuer's for servers", .mayNotSignResponses) {
            $0.delegate(to: otherPurpose)
        },
        stapling("by a certificate of the issuer's for any purpose", .mayNotSignResponses) {
            $0.delegate(to: anyPurpose)
        },
        stapling("by a certificate of the issuer's without purposes", .mayNotSignResponses) {
            $0.delegate(to: noPurpose)
        },
        stapling(
            "by a responder whose key has another usage",
            .mayNotSignResponses,
            openSSL: .differs("RFC 5280, 4.2.1.3: OpenSSL ignores keyUsage here")
        ) { $0.delegate(to: wrongUsage) },
        stapling("by a responder that has expired", .responderNotValid(World.begins...past)) {
            $0.delegate(to: expired)
        },
        stapling("by a responder that is not yet valid", .responderNotValid(future...World.ends)) {
            $0.delegate(to: early)
        },
        stapling("by a responder with a critical extension", .criticalExtension(identifier: "1.2.3.4")) {
            $0.delegate(to: critical)
        },
        stapling("by a responder of an intermediate below the issuer", .unauthorizedSigner) {
            $0.delegate(to: ofIntermediate)
            $0.certificates.append(World.intermediate)
        },
        stapling("by an unrelated authority's responder", .unauthorizedSigner) { $0.delegate(to: ofStranger) },
        stapling("by an unrelated authority", .unauthorizedSigner) { $0.delegate(to: World.strangeRoot) },
        stapling("by an unrelated authority in the issuer's name", .badSignature) {
            $0.signer = World.root.inHands(of: .p256("pretender"))
        },
        stapling("by a responder that an unrelated authority has signed in the issuer's name", .unauthorizedSigner) {
            $0.delegate(to: pretender)
        },
        stapling("by an unrelated authority in the responder's name", .badSignature) {
            $0.signer = good.inHands(of: .p256("pretender"))
            $0.certificates = [good]
        },
        stapling("revoked, by an unrelated authority", .unauthorizedSigner) {
            $0.revoke()
            $0.delegate(to: World.strangeRoot)
        },
        RevocationCase("by a responder that is on a list") {
            $0.stapled = delegated(good)
            $0.list = ForgedList(entries: [ForgedList.Entry(certificate: good)])
            $0.flags = [.ocsp, .requirePositiveResponse]
            $0.refuse(RevocationObstacle(.responderRevoked, from: .stapledResponse))
        },
        RevocationCase("by a responder that is on a list, with id-pkix-ocsp-nocheck") {
            $0.stapled = delegated(unchecked)
            $0.list = ForgedList(entries: [ForgedList.Entry(certificate: unchecked)])
            $0.flags = [.ocsp, .requirePositiveResponse]
        },
        weak("signed with SHA-1") {
            $0.refuse(RevocationObstacle(.weakSignature("SHA-1 with RSA"), from: .stapledResponse))
        },
        weak("signed with SHA-1, allowed") { $0.allowsSHA1 = true },
        stapling("signed with MD5", .weakSignature("MD5 with RSA")) {
            $0.algorithmLabel = Encoded.sequence(
                Encoded.identifier([1, 2, 840, 113_549, 1, 1, 4]),
                Encoded.node(0x05)
            )
        },
        stapling("signed with RSASSA-PSS", .unsupportedAlgorithm("1.2.840.113549.1.1.10")) {
            $0.algorithmLabel = Encoded.sequence(
                Encoded.identifier([1, 2, 840, 113_549, 1, 1, 10]),
                Encoded.node(0x05)
            )
        },
    ]

    private static func delegated(_ responder: Forged) -> ForgedResponse {
        var response = ForgedResponse()
        response.delegate(to: responder)
        return response
    }

    private static func weak(_ name: String, _ change: (inout RevocationCase) -> Void) -> RevocationCase {
        RevocationCase(name) {
            $0.chain = [World.rsaLeaf]
            $0.anchor = World.rsaIntermediate
            $0.stapled = ForgedResponse(
                subject: World.rsaLeaf,
                issuer: World.rsaIntermediate,
                signer: World.rsaIntermediate,
                algorithm: .sha1WithRSAEncryption
            )
            change(&$0)
        }
    }
}
