import SwiftASN1
import X509

/// Whether a response is signed by one who may: the certificate's issuer, or a responder to whom the issuer has delegated it
/// (RFC 6960, 4.2.2.2). Nobody else, however trusted otherwise: "trusted responders" by local configuration are not supported.
struct OCSPSigner {
    /// More certificates than that nobody needs.
    private static let maximumCertificates = 8
    /// id-pkix-ocsp-nocheck.
    private static let noCheck: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]

    let question: RevocationQuestion
    /// Whether a responder's certificate is on a list that is at hand. Asked only where the certificate does not say that it need
    /// not be (RFC 6960, 4.2.2.2.1).
    let isRevoked: (RevocationQuestion) -> Bool

    func check(_ response: OCSPResponse) throws(RevocationProblem) {
        var problem = RevocationProblem.signedByStranger
        let responder = response.data.responder
        if responder.names(question.issuer) {
            do {
                return try response.signed.check(by: question.issuer, allowsSHA1: question.allowsSHA1)
            } catch {
                problem = error
            }
        }
        for der in response.certificates.prefix(Self.maximumCertificates) {
            guard let certificate = try? TrustCertificate(derEncoded: der), certificate.fields.encodingFault == nil,
                responder.names(certificate)
            else { continue }
            do {
                try checkDelegated(certificate)
                return try response.signed.check(by: certificate, allowsSHA1: question.allowsSHA1)
            } catch {
                if problem == .signedByStranger || error != .signedByStranger { problem = error }
            }
        }
        throw problem
    }

    private func checkDelegated(_ responder: TrustCertificate) throws(RevocationProblem) {
        let issuer = question.issuer.x509
        guard responder.x509.issuer == issuer.subject,
            responder.isSigned(by: question.issuer)
        else { throw .signedByStranger }
        if responder.x509.signatureAlgorithm == .sha1WithRSAEncryption, !question.allowsSHA1 {
            throw .weakSignature("SHA-1 with RSA")
        }
        do {
            guard let purposes = try responder.extendedKeyUsage(), purposes.contains(.ocspSigning) else {
                throw RevocationProblem.mayNotSignResponses
            }
            if let usage = try responder.keyUsage(), !usage.digitalSignature, !usage.nonRepudiation {
                throw RevocationProblem.mayNotSignResponses
            }
            try CriticalExtensionPolicy().check([responder], at: question.time)
        } catch {
            guard case .criticalExtension(_, let identifier)? = error as? TrustFailure else {
                throw .mayNotSignResponses
            }
            throw .criticalExtension(identifier: identifier)
        }
        guard responder.notBefore <= question.time, question.time <= responder.notAfter else {
            throw .responderNotValid(responder.notBefore...max(responder.notBefore, responder.notAfter))
        }
        guard responder.x509.extensions[oid: Self.noCheck] == nil else { return }
        let question = RevocationQuestion(
            certificate: responder,
            issuer: question.issuer,
            time: question.time,
            allowsSHA1: question.allowsSHA1,
            stapledResponse: nil,
            lists: question.lists
        )
        guard !isRevoked(question) else { throw .responderRevoked }
    }
}
