package import ServerTrust
import SwiftASN1
package import X509

/// A certificate of our own making, with its key.
package struct Forged: Sendable {
    package let x509: Certificate
    package let der: [UInt8]
    package let key: ForgeKey

    /// For those that can be read.
    package var certificate: TrustCertificate {
        do {
            return try TrustCertificate(derEncoded: der)
        } catch {
            fatalError("a forged certificate cannot be read: \(error)")
        }
    }

    package var pin: PublicKeyPin { PublicKeyPin(certificate) }

    /// The same certificate in the hands of somebody with another key.
    package func inHands(of key: ForgeKey) -> Forged { Forged(x509: x509, der: der, key: key) }
}

extension ServerTrust {
    /// What a server sent.
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
    /// Why a server is refused; nil for one that is trusted.
    package func reason(_ trust: ServerTrust, forHost host: String = World.host) -> TrustFailure? {
        do throws(ServerTrustError) { try evaluate(trust, forHost: host) } catch { return error.reason }
        return nil
    }

    /// The same when revocation is asked about.
    package func onlineReason(_ trust: ServerTrust, forHost host: String = World.host) async -> TrustFailure? {
        do throws(ServerTrustError) { try await evaluateOnline(trust, forHost: host) } catch { return error.reason }
        return nil
    }
}

/// Where the NULL of RSA algorithms is left out, which some tools have done: in Alamofire's own certificates, for example.
package enum LackingParameters: CaseIterable, Sendable {
    /// In the key's algorithm.
    case key
    /// In the signature's algorithm that is signed.
    case inside
    /// In the one that is not.
    case outside
    /// In the key's and the one that is not signed.
    case keyAndOutside
}

extension Forged {
    /// The same certificate of an RSA key without that NULL, signed again by an RSA key.
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

/// Certificates as text.
package enum PEM {
    package static func text(_ certificates: [[UInt8]]) -> String {
        certificates.map { PEMDocument(type: "CERTIFICATE", derBytes: $0).pemString + "\n" }.joined()
    }
}
