package import ServerTrust
import SwiftASN1
package import X509

/// The content of a forged revocation list. The default is a valid empty list of the authority of
/// ``RevocationWorld``. Times are relative to the time of the test.
package struct ForgedList: Sendable {
    package struct Entry: Sendable {
        package var certificate: Forged
        package var since = Duration.seconds(-86_400)
        package var reason: Int? = 1
        package var extensions: [Certificate.Extension] = []

        package init(certificate: Forged, reason: Int? = 1, extensions: [Certificate.Extension] = []) {
            self.certificate = certificate
            self.reason = reason
            self.extensions = extensions
        }
    }

    package var issuer: Forged
    /// The key that signs instead of the issuer's.
    package var key: ForgeKey?
    package var algorithm: Certificate.SignatureAlgorithm?
    package var entries: [Entry]
    /// The encoded entries. They replace `entries`.
    package var encodedEntries: [UInt8]?
    package var thisUpdate = Duration.seconds(-3600)
    package var nextUpdate: Duration?
    package var extensions: [Certificate.Extension] = []
    package var isVersion1 = false

    package init(
        issuer: Forged = RevocationWorld.authority,
        key: ForgeKey? = nil,
        algorithm: Certificate.SignatureAlgorithm? = nil,
        entries: [Entry] = [],
        nextUpdate: Duration? = .seconds(86_400)
    ) {
        self.issuer = issuer
        self.key = key
        self.algorithm = algorithm
        self.entries = entries
        self.nextUpdate = nextUpdate
    }

    package mutating func revoke(_ certificate: Forged = RevocationWorld.plain, reason: Int? = 1) {
        entries.append(Entry(certificate: certificate, reason: reason))
    }

    /// The default list with one revoked certificate.
    package static func revoking(_ certificate: Forged = RevocationWorld.plain) -> ForgedList {
        var list = ForgedList()
        list.revoke(certificate)
        return list
    }

    /// Adds issuingDistributionPoint with the content of its sequence.
    package mutating func limit(_ content: [UInt8]...) {
        let value = Encoded.sequence(Array(content.joined()))[...]
        extensions.append(Certificate.Extension(oid: [2, 5, 29, 28], critical: true, value: value))
    }

    package func der(at now: TrustTime = World.now) -> [UInt8] { signed(body(at: now)) }

    /// Returns the signed part.
    package func body(at now: TrustTime = World.now) -> [UInt8] {
        let algorithm = algorithm ?? (key ?? issuer.key).key.defaultAlgorithm
        return Encoded.sequence(
            isVersion1 ? [] : Encoded.integer([1]),
            Encoded.algorithm(algorithm),
            Encoded.der(issuer.x509.subject),
            Encoded.shortTime(now.advanced(by: thisUpdate)),
            nextUpdate.map { Encoded.shortTime(now.advanced(by: $0)) } ?? [],
            encodedEntries.map { Encoded.sequence($0) }
                ?? (entries.isEmpty ? [] : Encoded.sequence(entries.flatMap { Self.encoded($0, now) })),
            extensions.isEmpty ? [] : Encoded.tagged(0, Encoded.extensions(extensions))
        )
    }

    /// Returns a list with a body.
    package func signed(_ body: [UInt8]) -> [UInt8] {
        Encoded.signed(body, by: key ?? issuer.key, algorithm: algorithm)
    }

    package func pem(at now: TrustTime = World.now) -> String {
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
