package import ServerTrust
import SwiftASN1
package import X509

/// A forged certificate with its key.
package struct Forged: Sendable {
    package let x509: Certificate
    package let der: [UInt8]
    package let key: ForgeKey

    /// The parsed certificate. It must be readable.
    package var certificate: TrustCertificate {
        do {
            return try TrustCertificate(derEncoded: der)
        } catch {
            fatalError("a forged certificate cannot be read: \(error)")
        }
    }

    package var pin: PublicKeyPin { PublicKeyPin(certificate) }

    /// Returns the certificate with another key.
    package func inHands(of key: ForgeKey) -> Forged { Forged(x509: x509, der: der, key: key) }
}

extension ServerTrust {
    /// Creates a trust from the certificates of a server.
    package init(
        _ sent: [Forged],
        anchors: [Forged],
        host: String? = World.host,
        at time: TrustTime = World.now,
        revocation: (any RevocationChecking)? = nil
    ) throws {
        try self.init(derEncodedChain: sent.map(\.der), host: host)
        self.anchors = TrustAnchors(anchors.map(\.certificate))
        self.time = time
        self.revocation = revocation
    }
}

extension ServerTrustEvaluating {
    /// Returns the reason of a refusal; nil if the server is trusted.
    package func reason(_ trust: ServerTrust, forHost host: String = World.host) -> TrustFailure? {
        do throws(ServerTrustError) { try evaluate(trust, forHost: host) } catch { return error.reason }
        return nil
    }

    /// Returns the reason of a refusal by an asynchronous evaluation; nil if the server is trusted.
    package func onlineReason(_ trust: ServerTrust, forHost host: String = World.host) async -> TrustFailure? {
        do throws(ServerTrustError) { try await evaluateOnline(trust, forHost: host) } catch { return error.reason }
        return nil
    }
}

/// The places at which the NULL of RSA algorithm identifiers is missing. Some tools omit it, for example in the
/// certificates of Alamofire's tests.
package enum LackingParameters: CaseIterable, Sendable {
    /// The algorithm of the key.
    case key
    /// The signature algorithm inside the signed part.
    case inside
    /// The signature algorithm outside the signed part.
    case outside
    /// The algorithm of the key, and the signature algorithm outside the signed part.
    case keyAndOutside
}

extension Forged {
    /// Returns the certificate of an RSA key without the NULL, signed again by an RSA key.
    package func lacking(_ place: LackingParameters, signedBy signer: ForgeKey? = nil) -> Forged {
        let rsaEncryption = Encoded.identifier([1, 2, 840, 113_549, 1, 1, 1])
        let signature = Encoded.identifier([1, 2, 840, 113_549, 1, 1, 11])
        guard case .constructed(let parts)? = try? DER.parse(der).content,
            case .constructed(let fields)? = parts.first(where: { _ in true })?.content
        else { fatalError("a forged certificate cannot be read") }
        let body = fields.enumerated().flatMap { index, field -> [UInt8] in
            switch (index, place) {
            case (2, .inside): return Encoded.sequence(signature)
            case (6, .key), (6, .keyAndOutside):
                guard case .constructed(let key) = field.content, let bits = key.dropFirst().first(where: { _ in true })
                else { fatalError("a forged key cannot be read") }
                return Encoded.sequence(Encoded.sequence(rsaEncryption), Array(bits.encodedBytes))
            default: return Array(field.encodedBytes)
            }
        }
        let lacksOutside = place == .outside || place == .keyAndOutside
        let der = Encoded.signed(
            Encoded.sequence(body),
            by: signer ?? key,
            algorithm: .sha256WithRSAEncryption,
            label: lacksOutside ? Encoded.sequence(signature) : nil
        )
        return Forged(x509: x509, der: der, key: key)
    }
}

/// The text form of certificates.
package enum PEM {
    package static func text(_ certificates: [[UInt8]]) -> String {
        certificates.map { PEMDocument(type: "CERTIFICATE", derBytes: $0).pemString + "\n" }.joined()
    }
}
