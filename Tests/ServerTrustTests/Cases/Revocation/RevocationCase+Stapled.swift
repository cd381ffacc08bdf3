import ServerTrust
import TrustForge

extension RevocationCase {
    static let stapledResponses: [RevocationCase] = [
        stapling("good"),
        stapling("good, named by SHA-256") { $0.digest = .sha256 },
        stapling("good, the responder named by its key") { $0.responder = .key },
        RevocationCase("good, RSA") {
            $0.chain = [World.rsaLeaf, World.rsaIntermediate]
            $0.anchor = World.rsaIntermediate
            $0.stapled = ForgedResponse(
                subject: World.rsaLeaf,
                issuer: World.rsaIntermediate,
                signer: World.rsaIntermediate
            )
        },
        revoking("revoked"),
        revoking("revoked without a reason", reason: nil),
        revoking("revoked, named by SHA-256") { $0.digest = .sha256 },
        revoking("on hold", reason: .certificateHold),
        stapling("unknown to the responder", .unknownToResponder) { $0.statuses = [.unknown] },
        stapling("the responder answers tryLater", .refused(.tryLater)) { $0.responseStatus = 3 },
        stapling("the responder answers unauthorized", .refused(.unauthorized)) { $0.responseStatus = 6 },
        stapling("the responder has an error", .refused(.internalError)) { $0.responseStatus = 2 },
        stapling("about another certificate", .otherCertificate) { $0.serialNumber = [1, 2, 3] },
        stapling("about another authority's certificate", .otherCertificate) { $0.issuerKey = .p256("other") },
        stapling("about nothing", .otherCertificate) { $0.statuses = [] },
        revoking("good and revoked in one", openSSL: .differs("OpenSSL uses the first; both are signed")) {
            $0.statuses.insert(.good, at: 0)
        },
        stapling("good and unknown in one", .unknownToResponder, openSSL: .differs("OpenSSL uses the first")) {
            $0.statuses = [.good, .unknown]
        },
        stapling("a critical extension", .criticalExtension(identifier: "1.2.3.4"), openSSL: .differs(criticality)) {
            $0.extensions = [RevocationWorld.strange]
        },
        stapling(
            "a critical extension of the statement",
            .criticalExtension(identifier: "1.2.3.4"),
            openSSL: .differs(criticality)
        ) { $0.singleExtensions = [RevocationWorld.strange] },
        stapling("nextUpdate before thisUpdate", .malformed("")) { $0.nextUpdate = .seconds(-7200) },
        bytes("bytes that are not a response", [1, 2, 3]),
        bytes("nothing", []),
        bytes("a byte after the response", ForgedResponse().der() + [0]),
        bytes("a successful response without content", Encoded.sequence(Encoded.enumerated(0))),
        RevocationCase("a huge response") {
            $0.stapledBytes = ForgedResponse().der() + [UInt8](repeating: 0, count: 64 << 10)
            $0.refuse(RevocationObstacle(.tooLarge(limit: 64 << 10), from: .stapledResponse))
        },
        RevocationCase("no response and no responder") { $0.refuse() },
        RevocationCase("bytes that are not a response, soft") {
            $0.stapledBytes = [1, 2, 3]
            $0.flags = .any
        },
        RevocationCase("revoked, soft") {
            $0.stapled = .revoked()
            $0.flags = .any
            $0.revoked(from: .stapledResponse)
        },
    ]

    private static let criticality = "RFC 6960, 4.4: OpenSSL ignores extensions"

    private static func bytes(_ name: String, _ bytes: [UInt8]) -> RevocationCase {
        RevocationCase(name) {
            $0.stapledBytes = bytes
            $0.openSSL = .agrees
            $0.refuse(RevocationObstacle(.malformed(""), from: .stapledResponse))
        }
    }
}
