import ServerTrust
import SwiftASN1
import TrustForge
import X509

/// What a forged revocation list says. The defaults make a good, empty one of the authority of ``RevocationWorld``. Times are counted
/// from the time of the test.
struct ForgedList: Sendable {
    struct Entry: Sendable {
        var certificate: Forged
        var since = Duration.seconds(-86_400)
        var reason: Int? = 1
        var extensions: [Certificate.Extension] = []
    }

    var issuer = RevocationWorld.authority
    /// Whose key signs instead of the issuer's.
    var key: ForgeKey?
    var algorithm: Certificate.SignatureAlgorithm?
    var entries: [Entry] = []
    var thisUpdate = Duration.seconds(-3600)
    var nextUpdate: Duration? = .seconds(86_400)
    var extensions: [Certificate.Extension] = []
    var isVersion1 = false

    mutating func revoke(_ certificate: Forged = RevocationWorld.plain, reason: Int? = 1) {
        entries.append(Entry(certificate: certificate, reason: reason))
    }

    /// With issuingDistributionPoint: the content of its sequence.
    mutating func limit(_ content: [UInt8]...) {
        let value = Encoded.sequence(Array(content.joined()))[...]
        extensions.append(Certificate.Extension(oid: [2, 5, 29, 28], critical: true, value: value))
    }

    func der(at now: TrustTime = World.now) -> [UInt8] {
        let key = key ?? issuer.key
        let algorithm = algorithm ?? key.key.defaultAlgorithm
        let body = Encoded.sequence(
            isVersion1 ? [] : Encoded.integer([1]),
            Encoded.algorithm(algorithm),
            Encoded.der(issuer.x509.subject),
            Encoded.shortTime(now.advanced(by: thisUpdate)),
            nextUpdate.map { Encoded.shortTime(now.advanced(by: $0)) } ?? [],
            entries.isEmpty ? [] : Encoded.sequence(entries.flatMap { Self.encoded($0, now) }),
            extensions.isEmpty ? [] : Encoded.tagged(0, Encoded.extensions(extensions))
        )
        return Encoded.signed(body, by: key, algorithm: algorithm)
    }

    func pem(at now: TrustTime = World.now) -> String {
        PEMDocument(type: "X509 CRL", derBytes: der(at: now)).pemString + "\n"
    }

    private static func encoded(_ entry: Entry, _ now: TrustTime) -> [UInt8] {
        var extensions = entry.extensions
        if let reason = entry.reason {
            let value = Encoded.enumerated(reason)[...]
            extensions.append(Certificate.Extension(oid: [2, 5, 29, 21], critical: false, value: value))
        }
        return Encoded.sequence(
            Encoded.integer(entry.certificate.x509.serialNumber.bytes),
            Encoded.shortTime(now.advanced(by: entry.since)),
            extensions.isEmpty ? [] : Encoded.extensions(extensions)
        )
    }
}
