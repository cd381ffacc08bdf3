import ServerTrust
import TrustForge

private typealias World = AlamofireWorld

extension AlamofireRow {
    /// Expectations of managers: from the tests of Alamofire 4 and 5 with the servers of badssl.com, then from the
    /// documentation.
    static let managers: [AlamofireRow] =
        sites("Alamofire 4") { host, kind in
            .policyManager(ServerTrustPolicyManager(policies: kind.policy.map { [host: $0] } ?? [:]))
        }
        + sites("Alamofire 5") { host, kind in
            .manager(
                ServerTrustManager(
                    allHostsMustBeEvaluated: false,
                    evaluators: kind.evaluator.map { [host: $0] } ?? [:]
                )
            )
        } + documented

    private enum Kind {
        case nothing, standard, revocation, disabled
        case certificates([Forged], validateChain: Bool)
        case keys([Forged], validateChain: Bool)
        case custom(Bool)

        var policy: ServerTrustPolicy? {
            switch self {
            case .nothing: nil
            case .standard: .performDefaultEvaluation(validateHost: true)
            case .revocation: .performRevokedEvaluation(validateHost: true, revocationFlags: .any)
            case .disabled: .disableEvaluation
            case .certificates(let pinned, let validateChain):
                .pinCertificates(
                    certificates: pinned.map(\.certificate),
                    validateCertificateChain: validateChain,
                    validateHost: true
                )
            case .keys(let pinned, let validateChain):
                .pinPublicKeys(
                    publicKeys: pinned.map(\.certificate.publicKey),
                    validateCertificateChain: validateChain,
                    validateHost: true
                )
            case .custom(let verdict): .customEvaluation { _, _ in verdict }
            }
        }

        var evaluator: (any ServerTrustEvaluating)? {
            switch self {
            case .nothing: nil
            case .certificates(let pinned, let validateChain):
                .pinnedCertificates(
                    certificates: pinned.map(\.certificate),
                    performDefaultValidation: validateChain,
                    validateHost: validateChain
                )
            case .keys(let pinned, let validateChain):
                .publicKeys(
                    keys: pinned.map(\.certificate.publicKey),
                    performDefaultValidation: validateChain,
                    validateHost: validateChain
                )
            default: policy?.evaluator
            }
        }
    }

    private static func sites(_ version: String, _ judge: (_ host: String, Kind) -> Judge) -> [AlamofireRow] {
        let everything = [World.expiredSite, World.validation, World.crossSigned, World.oldRoot]
        func expired(
            _ name: String,
            _ kind: Kind,
            _ failure: TrustFailure? = nil,
            anchors: [Forged] = World.system
        ) -> AlamofireRow {
            let sent = [World.expiredSite, World.validation, World.crossSigned]
            return AlamofireRow("\(version): expired, \(name)", sent, judge(World.expiredHost, kind)) {
                $0.onSystem(host: World.expiredHost)
                $0.anchors = anchors
                if let failure { $0.refuse(failure) }
            }
        }
        let hasExpired = TrustFailure.hasExpired(World.expiredSite)
        let notPinned = TrustFailure.isNotPinned(World.expiredSite)
        return [
            expired("nothing is set", .nothing, hasExpired),
            expired("default", .standard, hasExpired),
            expired("revocation", .revocation, hasExpired),
            AlamofireRow(
                "\(version): revoked, revocation",
                [World.revokedSite, World.validation],
                judge(World.revokedHost, .revocation)
            ) {
                $0.onSystem(host: World.revokedHost)
                $0.revoked = (World.revokedSite, World.validation)
                $0.refuse(
                    .revoked(
                        subject: World.revokedHost,
                        detail: RevocationRecord(
                            time: TrustForge.World.now.advanced(by: .seconds(-86_400)),
                            reason: .keyCompromise,
                            source: .list("given")
                        )
                    )
                )
            },
            expired("the server's is pinned", .certificates([World.expiredSite], validateChain: true), hasExpired),
            expired("the whole chain is pinned", .certificates(everything, validateChain: true), hasExpired),
            expired("the server's is pinned, no chain", .certificates([World.expiredSite], validateChain: false)),
            expired("the intermediate is pinned, no chain", .certificates([World.validation], validateChain: false)),
            expired(
                "the old root is pinned, no chain, the system has it",
                .certificates([World.oldRoot], validateChain: false),
                anchors: World.system + [World.oldRoot]
            ),
            expired(
                "the old root is pinned, no chain, the system has it no more",
                .certificates([World.oldRoot], validateChain: false),
                notPinned
            ),
            expired("the server's key is pinned", .keys([World.expiredSite], validateChain: true), hasExpired),
            expired("the server's key is pinned, no chain", .keys([World.expiredSite], validateChain: false)),
            expired("the intermediate's key is pinned, no chain", .keys([World.validation], validateChain: false)),
            expired(
                "the old root's key is pinned, no chain, the system has it",
                .keys([World.oldRoot], validateChain: false),
                anchors: World.system + [World.oldRoot]
            ),
            expired(
                "the old root's key is pinned, no chain, the system has it no more",
                .keys([World.oldRoot], validateChain: false),
                notPinned
            ),
            expired("disabled", .disabled),
            expired("custom, yes", .custom(true)),
            expired("custom, no", .custom(false), .custom("the custom evaluation refused it")),
        ]
    }

    private static let good = [World.validName, World.signing2, World.root]
    private static let byDefault = DefaultTrustEvaluator()

    private static let documented: [AlamofireRow] = [
        managed("every host must be evaluated, and this one is not named", ["example.org": byDefault]) {
            $0.refuse(.noEvaluator)
        },
        managed("the host is named", [World.host: byDefault]),
        managed("the host is named and has no valid chain", [World.host: byDefault]) {
            $0.anchors = World.system
            $0.refuse(.alamofireRootIsUntrusted)
        },
        managed("the host is named in different letter case", ["Test.Alamofire.ORG": byDefault]) {
            $0.difference = "Alamofire compares text; host names are case-insensitive (RFC 4343)"
        },
        managed("a wildcard", ["*.alamofire.org": byDefault]) {
            $0.difference = "Alamofire supports patterns only in a subclass"
        },
        managed("the key is not a host", [World.host: byDefault, "test alamofire": byDefault]) {
            $0.refuse(.invalidPattern("test alamofire"))
            $0.difference = "an invalid key protects no host, so it must be reported"
        },
    ]

    private static func managed(
        _ name: String,
        _ evaluators: [String: any ServerTrustEvaluating],
        _ change: (inout AlamofireRow) -> Void = { _ in }
    ) -> AlamofireRow {
        AlamofireRow("Alamofire 5: \(name)", good, .manager(ServerTrustManager(evaluators: evaluators)), change)
    }
}
