import ServerTrust
import TrustForge

extension RevocationCase {
    /// All cases, grouped by subject.
    static let groups: [(title: String, cases: [RevocationCase])] = [
        ("Stapled OCSP responses", stapledResponses),
        ("Signers of OCSP responses", signers),
        ("Validity of OCSP responses", times),
        ("Fetched OCSP responses", fetched),
        ("Revocation lists", lists),
        ("Scope of lists", scopes),
        ("Flags and sources", flagsAndOrder),
        ("Chains", chains),
    ]

    static let all = groups.flatMap(\.cases)

    /// A case with a stapled response. The certificate names no responder and no list.
    static func stapling(
        _ name: String,
        _ problem: RevocationProblem? = nil,
        openSSL: OpenSSL = .agrees,
        _ change: (inout ForgedResponse) -> Void = { _ in }
    ) -> RevocationCase {
        RevocationCase(name) {
            var response = ForgedResponse()
            change(&response)
            $0.stapled = response
            $0.openSSL = openSSL
            if let problem { $0.refuse(RevocationObstacle(problem, from: .stapledResponse)) }
        }
    }

    /// A case with a stapled response that reports the certificate as revoked.
    static func revoking(
        _ name: String,
        reason: RevocationReason? = .keyCompromise,
        openSSL: OpenSSL = .agrees,
        _ change: (inout ForgedResponse) -> Void = { _ in }
    ) -> RevocationCase {
        RevocationCase(name) {
            var response = ForgedResponse.revoked(reason: reason?.rawValue)
            change(&response)
            $0.stapled = response
            $0.openSSL = openSSL
            $0.revoked(from: .stapledResponse, reason: reason)
        }
    }

    /// A case with a configured list. The certificate names no responder and no list.
    static func giving(
        _ name: String,
        _ problem: RevocationProblem? = nil,
        openSSL: OpenSSL = .agrees,
        _ change: (inout ForgedList) -> Void = { _ in }
    ) -> RevocationCase {
        RevocationCase(name) {
            var list = ForgedList()
            change(&list)
            $0.list = list
            $0.openSSL = openSSL
            if let problem { $0.refuse(RevocationObstacle(problem, from: .list("given"))) }
        }
    }

    /// A case with a response fetched from a responder.
    static func asking(
        _ name: String,
        _ problem: RevocationProblem? = nil,
        _ change: (inout ForgedResponse) -> Void
    ) -> RevocationCase {
        RevocationCase(name) {
            var response = ForgedResponse()
            change(&response)
            $0.chain = [RevocationWorld.withResponder]
            $0.answer(RevocationWorld.responder, response)
            if let problem {
                $0.refuse(RevocationObstacle(problem, from: .responder(url: RevocationWorld.responder)))
            }
        }
    }

    /// A case with a fetched list.
    static func fetchedList(
        _ name: String,
        _ problem: RevocationProblem? = nil,
        _ change: (inout ForgedList) -> Void
    ) -> RevocationCase {
        RevocationCase(name) {
            var list = ForgedList()
            change(&list)
            $0.chain = [RevocationWorld.withList]
            $0.answer(RevocationWorld.list, list)
            if let problem { $0.refuse(RevocationObstacle(problem, from: .list(RevocationWorld.list))) }
        }
    }
}
