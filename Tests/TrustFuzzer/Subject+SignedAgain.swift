import ServerTrust
import SwiftASN1
import TrustForge
import X509

/// Damage that the authority has signed, so that it reaches the steps after the signature check. Such input may pass.
/// It must only not crash.
extension Subject {
    static let signedLeaf = Subject(name: "server's certificate, signed again", seeds: leafBodies) { body in
        judge([Encoded.signed(body, by: World.intermediate.key, algorithm: nil), World.intermediate.der])
    }

    static let signedIntermediate = Subject(name: "intermediate, signed again", seeds: intermediateBodies) { body in
        judge([manyNames.der, Encoded.signed(body, by: World.root.key, algorithm: nil)])
    }

    /// Evaluates certificates with all policies and with revocation.
    private static func judge(_ sent: [[UInt8]]) -> Finding {
        do {
            var trust = try Good.trust(sent)
            trust.revocation = RevocationChecker()
            try DefaultTrustEvaluator().evaluate(trust, forHost: World.host)
            let revocation = RevocationTrustEvaluator(validateHost: false, options: [.any, .requirePositiveResponse])
            do {
                try revocation.evaluate(trust, forHost: World.host)
            } catch {
                guard case .revocationUnknown = error.reason else { throw error }
            }
            return .passed
        } catch let error as ServerTrustError {
            return .refused(by: error.reason)
        } catch {
            return .refused(by: error)
        }
    }

    /// The bodies of every documented case below the intermediate, and of certificates that name responders and
    /// lists.
    private static let leafBodies: [[UInt8]] = {
        let cases = TrustCase.all.compactMap { $0.sent.first.flatMap { try? Certificate(derEncoded: $0) } }
        let more = RevocationWorld.extensions(responders: ["http://a.example/"], lists: ["http://b.example/", "c"])
        let asked = World.leaf { $0.more = more }.x509
        return body(of: cases.filter { $0.issuer == World.intermediate.x509.subject } + [World.leaf.x509, asked])
    }()

    private static let intermediateBodies: [[UInt8]] = {
        let names: [GeneralName] = [
            .dnsName("example.org"), .rfc822Name("example.org"), .uniformResourceIdentifier(".example.org"),
        ]
        let authorities: [(inout Blueprint) -> Void] = [
            { _ in },
            {
                $0.constraints = NameConstraints(
                    permittedDNSDomains: ["example.org"],
                    excludedDNSDomains: ["a.example"]
                )
            },
            {
                $0.constraints = NameConstraints(permittedIPRanges: [
                    ASN1OctetString(contentBytes: [192, 0, 2, 0, 255, 255, 255, 0])
                ])
            },
            { $0.constraints = NameConstraints(permittedEmailAddresses: ["example.org"]) },
            { $0.constraints = NameConstraints(forbiddenURIDomains: [".example.com"]) },
            { $0.authority = .isCertificateAuthority(maxPathLength: 0) },
            { $0.purposes = [.serverAuth, .clientAuth] },
            { $0.names = names },
        ]
        return body(
            of: authorities.map { change in
                var blueprint = Blueprint.authority("Intermediate")
                change(&blueprint)
                return blueprint.signed(by: World.root).x509
            }
        )
    }()

    /// A certificate with names of each kind to which constraints apply.
    private static let manyNames = World.leaf(names: [
        .dnsName("example.org"), .dnsName("*.example.org"), .rfc822Name("somebody@example.org"),
        .uniformResourceIdentifier("https://www.example.org/"),
    ])

    private static func body(of certificates: [Certificate]) -> [[UInt8]] {
        certificates.map { Array($0.tbsCertificateBytes) }
    }
}
