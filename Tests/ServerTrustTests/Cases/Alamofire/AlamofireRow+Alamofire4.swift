import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Expectations of `ServerTrustPolicy`.
    static let alamofire4: [AlamofireRow] =
        standard("default") { .policy(.performDefaultEvaluation(validateHost: $0)) }
        + standard("revocation") { .policy(.performRevokedEvaluation(validateHost: $0, revocationFlags: .any)) }
        + [false, true].flatMap { validateHost in
            certificates(
                validateHost ? "certificates, host" : "certificates",
                accepted: { pinned($0, validateChain: true, validateHost: validateHost) },
                refused: { pinned($0, validateChain: true, validateHost: validateHost) },
                pinsAreAnchors: true
            )
        }
        + unvalidatedCertificates("certificates, no chain") { pinned($0, validateChain: false, validateHost: false) }
        + keys("keys") { certificates, validateChain, validateHost in
            .policy(
                .pinPublicKeys(
                    publicKeys: certificates.map(\.certificate.publicKey),
                    validateCertificateChain: validateChain,
                    validateHost: validateHost
                )
            )
        }
        + others

    private static let good = [World.validName, World.signing2, World.root]

    private static let others: [AlamofireRow] = [
        AlamofireRow(
            "disabled: the intermediate is missing",
            [World.validName, World.root],
            .policy(.disableEvaluation)
        ),
        AlamofireRow("disabled: expired", [World.expired, World.signing2, World.root], .policy(.disableEvaluation)),
        AlamofireRow("custom: yes", good, .policy(.customEvaluation { _, _ in true })),
        AlamofireRow("custom: no", good, .policy(.customEvaluation { _, _ in false })) {
            $0.refuse(.custom("the custom evaluation refused it"))
        },
        // Alamofire 4 has no test for these. The expectations follow from its code.
        AlamofireRow(
            "default, host: the host is another",
            good,
            .policy(.performDefaultEvaluation(validateHost: true))
        ) {
            $0.host = "other.alamofire.org"
            $0.refuse(.hostMismatch(names: [World.host]))
        },
        AlamofireRow(
            "certificates, no chain, host: the host is another",
            good,
            pinned([World.validName], validateChain: false, validateHost: true)
        ) {
            $0.host = "other.alamofire.org"
            $0.refuse(.hostMismatch(names: [World.host]))
            $0.difference =
                "Alamofire 4 does not verify the host if it does not validate the chain, for any `validateHost`"
        },
        AlamofireRow(
            "certificates, no chain, host: expired",
            [World.expired, World.signing2, World.root],
            pinned([World.expired], validateChain: false, validateHost: true)
        ),
        AlamofireRow("certificates: none", good, pinned([], validateChain: true, validateHost: true)) {
            $0.refuse(.noPins)
        },
        AlamofireRow("certificates, no chain: none", good, pinned([], validateChain: false, validateHost: false)) {
            $0.refuse(.noPins)
        },
        AlamofireRow("keys: none", good, .policy(noKeys(validateChain: true))) { $0.refuse(.noPins) },
        AlamofireRow("keys, no chain: none", good, .policy(noKeys(validateChain: false))) { $0.refuse(.noPins) },
    ]

    private static func noKeys(validateChain: Bool) -> ServerTrustPolicy {
        .pinPublicKeys(publicKeys: [], validateCertificateChain: validateChain, validateHost: validateChain)
    }

    private static func pinned(_ certificates: [Forged], validateChain: Bool, validateHost: Bool) -> Judge {
        .policy(
            .pinCertificates(
                certificates: certificates.map(\.certificate),
                validateCertificateChain: validateChain,
                validateHost: validateHost
            )
        )
    }
}
