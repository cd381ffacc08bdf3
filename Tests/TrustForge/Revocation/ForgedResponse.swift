import Crypto
package import ServerTrust
import SwiftASN1
package import X509

/// The content of a forged OCSP response. The default is a good response for the server of ``RevocationWorld``. Times
/// are relative to the time of the test.
package struct ForgedResponse: Sendable {
    package enum Status: Sendable {
        case good, unknown
        case revoked(Duration, reason: Int?)
    }

    package enum Responder: Sendable {
        case name, key
    }

    package enum Digest: Sendable {
        case sha1, sha256
    }

    /// The certificate whose status is reported, and its issuer.
    package var subject: Forged
    package var issuer: Forged
    /// The statuses, usually one.
    package var statuses: [Status] = [.good]
    package var digest = Digest.sha1
    package var serialNumber: [UInt8]?
    package var issuerKey: ForgeKey?

    /// The signer of the response, its identification, and the included certificates.
    package var signer: Forged
    package var responder = Responder.name
    package var certificates: [Forged] = []
    package var algorithm: Certificate.SignatureAlgorithm?
    /// The algorithm identifier to use instead of the correct one.
    package var algorithmLabel: [UInt8]?

    package var producedAt = Duration.seconds(-3600)
    package var thisUpdate: Duration
    package var nextUpdate: Duration?
    package var nonce: [UInt8]?
    package var extensions: [Certificate.Extension] = []
    package var singleExtensions: [Certificate.Extension] = []

    /// The status of the response. If it is not 0, the response has no other content.
    package var responseStatus = 0

    package init(
        subject: Forged = RevocationWorld.plain,
        issuer: Forged = RevocationWorld.authority,
        signer: Forged = RevocationWorld.authority,
        algorithm: Certificate.SignatureAlgorithm? = nil,
        thisUpdate: Duration = .seconds(-3600),
        nextUpdate: Duration? = .seconds(86_400)
    ) {
        self.subject = subject
        self.issuer = issuer
        self.signer = signer
        self.algorithm = algorithm
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
    }

    package mutating func revoke(_ since: Duration = .seconds(-86_400), reason: Int? = 1) {
        statuses = [.revoked(since, reason: reason)]
    }

    /// The default response, except that the status is revoked.
    package static func revoked(reason: Int? = 1) -> ForgedResponse {
        var response = ForgedResponse()
        response.revoke(reason: reason)
        return response
    }

    /// Makes a delegated responder sign the response, and includes its certificate.
    package mutating func delegate(to responder: Forged) {
        signer = responder
        certificates = [responder]
    }

    package func der(at now: TrustTime = World.now) -> [UInt8] {
        guard responseStatus == 0 else { return Encoded.sequence(Encoded.enumerated(responseStatus)) }
        return signed(body(at: now))
    }

    /// Returns the signed part.
    package func body(at now: TrustTime = World.now) -> [UInt8] {
        var all = extensions
        if let nonce {
            let value = Encoded.octets(nonce)[...]
            all.append(Certificate.Extension(oid: [1, 3, 6, 1, 5, 5, 7, 48, 1, 2], critical: false, value: value))
        }
        return Encoded.sequence(
            responderID,
            Encoded.time(now.advanced(by: producedAt)),
            Encoded.sequence(statuses.flatMap { single($0, now) }),
            all.isEmpty ? [] : Encoded.tagged(1, Encoded.extensions(all))
        )
    }

    /// Returns a response with a body.
    package func signed(_ body: [UInt8]) -> [UInt8] {
        let sent = certificates.isEmpty ? [] : Encoded.tagged(0, Encoded.sequence(certificates.flatMap(\.der)))
        let basic = Encoded.signed(body, by: signer.key, algorithm: algorithm, label: algorithmLabel, and: sent)
        let content = Encoded.sequence(Encoded.identifier([1, 3, 6, 1, 5, 5, 7, 48, 1, 1]), Encoded.octets(basic))
        return Encoded.sequence(Encoded.enumerated(0), Encoded.tagged(0, content))
    }

    private var responderID: [UInt8] {
        switch responder {
        case .name: Encoded.tagged(1, Encoded.der(signer.x509.subject))
        case .key:
            Encoded.tagged(
                2,
                Encoded.octets(Array(Insecure.SHA1.hash(data: signer.x509.publicKey.subjectPublicKeyInfoBytes)))
            )
        }
    }

    private func single(_ status: Status, _ now: TrustTime) -> [UInt8] {
        Encoded.sequence(
            certificateID,
            Self.encoded(status, now),
            Encoded.time(now.advanced(by: thisUpdate)),
            nextUpdate.map { Encoded.tagged(0, Encoded.time(now.advanced(by: $0))) } ?? [],
            singleExtensions.isEmpty ? [] : Encoded.tagged(1, Encoded.extensions(singleExtensions))
        )
    }

    private var certificateID: [UInt8] {
        let name = Encoded.der(issuer.x509.subject)
        let key = Array((issuerKey ?? issuer.key).key.publicKey.subjectPublicKeyInfoBytes)
        let identifier: ASN1ObjectIdentifier =
            digest == .sha1 ? [1, 3, 14, 3, 2, 26] : [2, 16, 840, 1, 101, 3, 4, 2, 1]
        return Encoded.sequence(
            Encoded.sequence(Encoded.identifier(identifier), Encoded.node(0x05)),
            Encoded.octets(hash(name)),
            Encoded.octets(hash(key)),
            Encoded.integer(serialNumber ?? Array(subject.x509.serialNumber.bytes))
        )
    }

    private func hash(_ bytes: [UInt8]) -> [UInt8] {
        digest == .sha1 ? Array(Insecure.SHA1.hash(data: bytes)) : Array(SHA256.hash(data: bytes))
    }

    private static func encoded(_ status: Status, _ now: TrustTime) -> [UInt8] {
        switch status {
        case .good: Encoded.node(0x80)
        case .unknown: Encoded.node(0x82)
        case .revoked(let since, let reason):
            Encoded.node(
                0xa1,
                Encoded.time(now.advanced(by: since)),
                reason.map { Encoded.tagged(0, Encoded.enumerated($0)) } ?? []
            )
        }
    }
}
