import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Expectations of Alamofire 5's evaluators.
    static let alamofire5: [AlamofireRow] =
        standard("default") { .evaluator(DefaultTrustEvaluator(validateHost: $0)) }
        + standard("revocation") { .evaluator(RevocationTrustEvaluator(validateHost: $0)) }
        + certificates(
            "certificates",
            // Alamofire's tests for accepted certificates do not validate the chain.
            accepted: { pinned($0, validateChain: false, validateHost: false) },
            refused: { pinned($0, validateHost: false) },
            pinsAreAnchors: false
        )
        + certificates(
            "certificates, host",
            accepted: { pinned($0, acceptSelfSigned: true) },
            refused: { pinned($0) },
            pinsAreAnchors: false
        )
        + unvalidatedCertificates("certificates, no chain") { pinned($0, validateChain: false, validateHost: false) }
        + keys("keys") { certificates, validateChain, validateHost in
            .evaluator(
                .publicKeys(
                    keys: certificates.map(\.certificate.publicKey),
                    performDefaultValidation: validateChain,
                    validateHost: validateHost
                )
            )
        }
        + others

    private static let good = [World.validName, World.signing2, World.root]
    private static let expired = [World.expired, World.signing2, World.root]
    private static let composite = Judge.evaluator(
        .composite(evaluators: [DefaultTrustEvaluator(validateHost: false), .revocationChecking(validateHost: false)])
    )

    private static let others: [AlamofireRow] = [
        AlamofireRow(
            "disabled: the intermediate is missing",
            [World.validName, World.root],
            .evaluator(DisabledTrustEvaluator())
        ),
        AlamofireRow("disabled: expired", expired, .evaluator(DisabledTrustEvaluator())),
        AlamofireRow("composite: good", good, composite),
        AlamofireRow("composite: the root is not trusted", [World.validName, World.signing2], composite) {
            $0.onSystem()
            $0.refuse(.lacksIssuer(World.signing2))
        },
        AlamofireRow("composite: expired", expired, composite) { $0.refuse(.hasExpired(World.expired)) },
        // Alamofire 5 has no test for these. The expectations follow from its documentation or code.
        AlamofireRow("composite: of none", good, .evaluator(.composite(evaluators: []))) {
            $0.refuse(.noEvaluator)
            $0.difference = "an empty list would trust every server"
        },
        AlamofireRow("certificates, no chain, host: expired", expired, pinned([World.expired], validateChain: false)) {
            $0.refuse(.hasExpired(World.expired))
        },
        AlamofireRow(
            "keys, no chain, host: expired",
            expired,
            .evaluator(.publicKeys(keys: [World.expired.certificate.publicKey], performDefaultValidation: false))
        ) { $0.refuse(.hasExpired(World.expired)) },
        AlamofireRow("certificates: none", good, pinned([])) { $0.refuse(.noPins) },
        AlamofireRow("keys: none", good, .evaluator(.publicKeys(keys: []))) { $0.refuse(.noPins) },
        AlamofireRow(
            "certificates, no chain: the root is an anchor and not sent",
            [World.validName, World.signing2],
            pinned([World.root], validateChain: false, validateHost: false)
        ),
        AlamofireRow(
            "certificates, no chain, self-signed accepted: the intermediate is pinned and not sent",
            [World.validName],
            pinned([World.signing2], acceptSelfSigned: true, validateChain: false, validateHost: false)
        ),
    ]

    private static func pinned(
        _ certificates: [Forged],
        acceptSelfSigned: Bool = false,
        validateChain: Bool = true,
        validateHost: Bool = true
    ) -> Judge {
        .evaluator(
            .pinnedCertificates(
                certificates: certificates.map(\.certificate),
                acceptSelfSignedCertificates: acceptSelfSigned,
                performDefaultValidation: validateChain,
                validateHost: validateHost
            )
        )
    }
}
