import SwiftASN1
import X509

/// The evaluation of an OCSP response for one certificate (RFC 6960, 3.2 and 4.2.2).
struct OCSPResponseVerifier {
    let query: RevocationQuery
    let settings: RevocationSettings
    /// A function that returns whether a responder's certificate is on an available list. It is called unless the
    /// certificate has the extension id-pkix-ocsp-nocheck (RFC 6960, 4.2.2.2.1).
    let isRevoked: (RevocationQuery) -> Bool

    /// Verifies a response, and returns the revocation status.
    ///
    /// - Parameters:
    ///   - der: The response.
    ///   - nonce: The nonce of the request; nil if it had none. A response without a nonce is accepted, because most
    ///     responders sign responses in advance (RFC 9654, 2.1).
    ///   - source: The source of the response.
    func result(
        _ der: [UInt8],
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationResult {
        guard der.count <= settings.maximumResponseBytes else {
            throw .tooLarge(limit: settings.maximumResponseBytes)
        }
        let response = try OCSPResponse(der: der)
        let statements = response.data.responses.filter { $0.id.names(query) }
        guard !statements.isEmpty else { throw .otherCertificate }
        try checkSigner(of: response)
        try response.data.extensions.requireNoCritical(but: [OCSPRequest.nonceIdentifier])
        for statement in statements { try statement.extensions.requireNoCritical() }
        return try result(statements, of: response.data, nonce: nonce, from: source)
    }

    /// Returns the worst valid status if the response has several for the certificate.
    private func result(
        _ statements: [OCSPSingleResponse],
        of data: OCSPResponseData,
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationResult {
        var problem: RevocationProblem?
        for statement in statements.sorted(by: { Self.severity($0) > Self.severity($1) }) {
            do {
                return try result(statement, of: data, nonce: nonce, from: source)
            } catch {
                guard error != .unknownToResponder else { throw error }
                problem = problem ?? error
            }
        }
        throw problem ?? .otherCertificate
    }

    private func result(
        _ statement: OCSPSingleResponse,
        of data: OCSPResponseData,
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationResult {
        var record: RevocationRecord?
        if case .revoked(let time, let reason) = statement.status {
            record = RevocationRecord(time: time, reason: reason, source: source)
        }
        // A revocation is permanent, so an outdated response counts too. Only a hold can end (RFC 5280, 5.3.1).
        if record == nil || record?.reason == .certificateHold {
            // A response without a nonce is accepted.
            guard nonce == nil || (try? data.nonce() ?? nonce) == nonce else { throw .wrongNonce }
            try checkTimes(statement, data.producedAt)
        }
        guard statement.status != .unknown else { throw .unknownToResponder }
        return RevocationResult(record, from: statement.thisUpdate, to: statement.nextUpdate, about: query, settings)
    }

    private func checkTimes(_ statement: OCSPSingleResponse, _ producedAt: TrustTime) throws(RevocationProblem) {
        let latest = query.time.advanced(by: settings.clockSkew)
        guard statement.thisUpdate <= latest else { throw .notYetValid(statement.thisUpdate) }
        guard producedAt <= latest else { throw .notYetValid(producedAt) }
        if let nextUpdate = statement.nextUpdate {
            guard query.time <= nextUpdate.advanced(by: settings.clockSkew) else { throw .expired(nextUpdate) }
        } else {
            let end = statement.thisUpdate.advanced(by: settings.maximumAgeWithoutNextUpdate)
            guard query.time <= end else { throw .tooOld(statement.thisUpdate) }
        }
    }

    private static func severity(_ statement: OCSPSingleResponse) -> Int {
        switch statement.status {
        case .revoked: 2
        case .unknown: 1
        case .good: 0
        }
    }
}

/// The verification of a response's signature. The signer must be the certificate's issuer, or a responder that the
/// issuer authorized (RFC 6960, 4.2.2.2). Responders that are trusted by local configuration are not supported.
extension OCSPResponseVerifier {
    /// The maximum number of certificates that are read from one response.
    private static let maximumCertificates = 8
    /// The extension id-pkix-ocsp-nocheck.
    private static let noCheck: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 48, 1, 5]

    private func checkSigner(of response: OCSPResponse) throws(RevocationProblem) {
        var problem = RevocationProblem.unauthorizedSigner
        let responder = response.data.responder
        if responder.names(query.issuer) {
            do {
                return try response.signed.check(by: query.issuer, allowsSHA1: query.allowsSHA1)
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
                return try response.signed.check(by: certificate, allowsSHA1: query.allowsSHA1)
            } catch {
                if problem == .unauthorizedSigner || error != .unauthorizedSigner { problem = error }
            }
        }
        throw problem
    }

    private func checkDelegated(_ responder: TrustCertificate) throws(RevocationProblem) {
        let issuer = query.issuer.x509
        guard responder.x509.issuer == issuer.subject,
            responder.isSigned(by: query.issuer)
        else { throw .unauthorizedSigner }
        if responder.x509.signatureAlgorithm == .sha1WithRSAEncryption, !query.allowsSHA1 {
            throw .weakSignature("SHA-1 with RSA")
        }
        do {
            guard let purposes = try responder.extendedKeyUsage(), purposes.contains(.ocspSigning) else {
                throw RevocationProblem.mayNotSignResponses
            }
            if let usage = try responder.keyUsage(), !usage.digitalSignature, !usage.nonRepudiation {
                throw RevocationProblem.mayNotSignResponses
            }
            try CriticalExtensionPolicy().check([responder], at: query.time)
        } catch {
            guard case .criticalExtension(_, let identifier)? = error as? TrustFailure else {
                throw .mayNotSignResponses
            }
            throw .criticalExtension(identifier: identifier)
        }
        guard responder.notBefore <= query.time, query.time <= responder.notAfter else {
            throw .responderNotValid(responder.notBefore...max(responder.notBefore, responder.notAfter))
        }
        guard responder.x509.extensions[oid: Self.noCheck] == nil else { return }
        let query = RevocationQuery(
            certificate: responder,
            issuer: query.issuer,
            time: query.time,
            allowsSHA1: query.allowsSHA1,
            stapledResponse: nil,
            lists: query.lists
        )
        guard !isRevoked(query) else { throw .responderRevoked }
    }
}

/// The status of a response without data (OCSPResponseStatus, RFC 6960, 4.2.1).
public struct OCSPRefusal: RawRepresentable, Hashable, Sendable {
    /// The number of OCSPResponseStatus.
    public let rawValue: Int

    /// Creates the status with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The responder could not parse the request.
    public static let malformedRequest = OCSPRefusal(rawValue: 1)
    /// The responder has an internal error.
    public static let internalError = OCSPRefusal(rawValue: 2)
    /// The responder is temporarily unable to answer.
    public static let tryLater = OCSPRefusal(rawValue: 3)
    /// The responder requires signed requests.
    public static let sigRequired = OCSPRefusal(rawValue: 5)
    /// The client is not authorized, or the responder has no response for the certificate (RFC 5019, 2.2.3).
    public static let unauthorized = OCSPRefusal(rawValue: 6)
}

extension OCSPRefusal: CustomStringConvertible {
    /// The name in RFC 6960, or `status 42` for an unknown number.
    public var description: String {
        switch self {
        case .malformedRequest: "malformedRequest"
        case .internalError: "internalError"
        case .tryLater: "tryLater"
        case .sigRequired: "sigRequired"
        case .unauthorized: "unauthorized"
        default: "status \(rawValue)"
        }
    }
}
