import ServerTrust
import TrustForge
import X509

/// Forged certificates with the same roles as the certificates of Alamofire's and AFNetworking's tests: the same
/// issuers, names and expiry. The originals are binary files.
enum AlamofireWorld {
    static let host = "test.alamofire.org"

    // MARK: alamofire.org

    static let root = Blueprint.authority("Alamofire Root").signed()
    static let signing1 = Blueprint.authority("Alamofire Signing 1").signed(by: root)
    static let signing2 = Blueprint.authority("Alamofire Signing 2").signed(by: root)

    static let wildcard = leaf("wildcard", [.dnsName("*.alamofire.org")], by: signing1)
    static let hosts = ["test.alamofire.org", "blog.alamofire.org", "www.alamofire.org"]
    static let multipleNames = leaf("multiple names", hosts.map { .dnsName($0) }, by: signing1)
    static let nameAndURI = leaf("name and URI", [.dnsName(host), uri], by: signing1)
    static let signedBy1 = leaf("signed by 1", [], by: signing1)

    static let expired = Blueprint.leaf("expired", names: [.dnsName(host)]).with(\.ends, over).signed(by: signing2)
    static let noNames = leaf("no names", [], by: signing2)
    static let signedBy2 = leaf("signed by 2", [], by: signing2)
    static let validName = leaf("valid name", [.dnsName(host)], by: signing2)
    static let validURI = leaf("valid URI", [uri], by: signing2)

    // MARK: badssl.com, under an authority that two roots have signed

    static let expiredHost = "expired.badssl.com"
    static let revokedHost = "revoked.badssl.com"
    static let oldRoot = Blueprint.authority("Old Root").signed()
    static let newRoot = Blueprint.authority("New Root").signed()
    static let crossSigned = Blueprint.authority("New Root").with(\.ends, later).signed(by: oldRoot)
    static let validation = Blueprint.authority("Domain Validation").signed(by: newRoot)
    static let expiredSite = Blueprint.leaf(expiredHost, names: [.dnsName(expiredHost)]).with(\.ends, over)
        .signed(by: validation)
    static let revokedSite = leaf(revokedHost, [.dnsName(revokedHost)], by: validation)

    // MARK: httpbin.org and adn.net, whose roots every system has

    static let publicRoot = Blueprint.authority("Public Root").signed()
    static let publicAuthority = Blueprint.authority("Public Authority").signed(by: publicRoot)
    static let httpBin = leaf("httpbin.org", [.dnsName("httpbin.org")], by: publicAuthority)
    static let otherRoot = Blueprint.authority("Other Root").signed()
    static let otherAuthority = Blueprint.authority("Other Authority").signed(by: otherRoot)
    static let adn = leaf("adn.net", [.dnsName("adn.net")], by: otherAuthority)

    // MARK: Self-signed

    /// A certificate whose only name is the common name.
    static let commonName = Blueprint.leaf("foobar.com", names: []).signed()
    static let alternativeName = Blueprint.leaf("AltName", names: [.dnsName("foobar.com")]).signed()
    static let noDomains = Blueprint.leaf("NoDomains", names: []).signed()

    /// The roots of the system. The root of alamofire.org is not among them.
    static let system = [publicRoot, otherRoot, newRoot]

    private static let over = TrustTime(year: 2026, month: 2, day: 1)
    private static let later = TrustTime(year: 2028, month: 1, day: 1)
    private static let uri = GeneralName.uniformResourceIdentifier("https://test.alamofire.org")

    private static func leaf(_ name: String, _ names: [GeneralName], by issuer: Forged) -> Forged {
        Blueprint.leaf(name, names: names).signed(by: issuer)
    }
}

/// The reasons that many rows have.
extension TrustFailure {
    /// The server sent a root that is not an anchor.
    static let alamofireRootIsUntrusted = TrustFailure.untrustedRoot(subject: "Alamofire Root")

    static func hasExpired(_ certificate: Forged) -> TrustFailure {
        .expired(subject: "\(certificate.certificate)", notAfter: certificate.certificate.notAfter)
    }

    static func hasNoNames(_ certificate: Forged) -> TrustFailure {
        .noSubjectAlternativeName(subject: "\(certificate.certificate)")
    }

    static func lacksIssuer(_ certificate: Forged) -> TrustFailure {
        .unknownIssuer(
            subject: "\(certificate.certificate)",
            issuer: certificate.certificate.x509.issuer.description
        )
    }

    static func isNotPinned(_ certificate: Forged) -> TrustFailure {
        .notPinned(subject: "\(certificate.certificate)")
    }
}

/// A file with the role of a file in a bundle of Alamofire's tests.
struct AlamofireFile: Sendable {
    let name: String
    let content: [UInt8]
    /// Whether ServerTrust reads a certificate from the file.
    let isRead: Bool
    /// The reason why Alamofire does the opposite; nil if it does not.
    var difference: String?

    static let all =
        ["cer", "crt", "der"].map { type in
            AlamofireFile(name: "certDER.\(type)", content: AlamofireWorld.root.der, isRead: true)
        }
        + ["cer", "crt", "der"].map { type in
            AlamofireFile(
                name: "certPEM.\(type)",
                content: Array(PEM.text([AlamofireWorld.signing1.der]).utf8),
                isRead: true,
                difference: "Apple's function reads only DER; on Linux certificates are usually PEM"
            )
        } + [
            AlamofireFile(
                name: "randomGibberish.crt",
                content: (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 167) },
                isRead: false
            ),
            AlamofireFile(
                name: "keyDER.der",
                content: AlamofireWorld.root.certificate.publicKey.subjectPublicKeyInfo,
                isRead: false
            ),
        ]
}
