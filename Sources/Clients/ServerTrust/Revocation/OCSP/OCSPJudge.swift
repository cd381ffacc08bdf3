import SwiftASN1
import X509

/// What an OCSP response says about one certificate, if it may be believed (RFC 6960, 3.2 and 4.2.2).
struct OCSPJudge {
    let question: RevocationQuestion
    let settings: RevocationSettings
    /// Whether a responder's certificate is on a list that is at hand.
    let isRevoked: (RevocationQuestion) -> Bool

    /// - Parameters:
    ///   - der: The response.
    ///   - nonce: What was sent along with the question; nil if nothing was. A response without one is taken all the same, for most
    ///     responders sign ahead (RFC 9654, 2.1).
    ///   - source: Who has given it.
    func answer(
        _ der: [UInt8],
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        guard der.count <= settings.maximumResponseBytes else {
            throw .tooLarge(limit: settings.maximumResponseBytes)
        }
        let response = try OCSPResponse(der: der)
        let statements = response.data.responses.filter { $0.id.names(question) }
        guard !statements.isEmpty else { throw .otherCertificate }
        try OCSPSigner(question: question, isRevoked: isRevoked).check(response)
        try response.data.extensions.requireNoCritical(but: [OCSPRequest.nonceIdentifier])
        for statement in statements { try statement.extensions.requireNoCritical() }
        return try answer(statements, of: response.data, nonce: nonce, from: source)
    }

    private func check(_ nonce: [UInt8], in data: OCSPResponseData) throws(RevocationProblem) {
        let echo: [UInt8]?
        do {
            echo = try data.nonce()
        } catch {
            throw .wrongNonce
        }
        guard echo == nil || echo == nonce else { throw .wrongNonce }
    }

    /// The worst of several statements that count.
    private func answer(
        _ statements: [OCSPSingleResponse],
        of data: OCSPResponseData,
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        var problem: RevocationProblem?
        for statement in statements.sorted(by: { Self.severity($0) > Self.severity($1) }) {
            do {
                return try answer(statement, of: data, nonce: nonce, from: source)
            } catch {
                guard error != .unknownToResponder else { throw error }
                problem = problem ?? error
            }
        }
        throw problem ?? .otherCertificate
    }

    private func answer(
        _ statement: OCSPSingleResponse,
        of data: OCSPResponseData,
        nonce: [UInt8]?,
        from source: RevocationSource
    ) throws(RevocationProblem) -> RevocationAnswer {
        var record: RevocationRecord?
        if case .revoked(let time, let reason) = statement.status {
            record = RevocationRecord(time: time, reason: reason, source: source)
        }
        // What is taken back stays so, however old the statement; only a hold may end (RFC 5280, 5.3.1).
        if record == nil || record?.reason == .certificateHold {
            if let nonce { try check(nonce, in: data) }
            try checkTimes(statement, data.producedAt)
        }
        guard statement.status != .unknown else { throw .unknownToResponder }
        return RevocationAnswer(
            record,
            from: statement.thisUpdate,
            to: statement.nextUpdate,
            about: question,
            settings
        )
    }

    private func checkTimes(_ statement: OCSPSingleResponse, _ producedAt: TrustTime) throws(RevocationProblem) {
        let latest = question.time.advanced(by: settings.clockSkew)
        guard statement.thisUpdate <= latest else { throw .notYetValid(statement.thisUpdate) }
        guard producedAt <= latest else { throw .notYetValid(producedAt) }
        if let nextUpdate = statement.nextUpdate {
            guard question.time <= nextUpdate.advanced(by: settings.clockSkew) else { throw .expired(nextUpdate) }
        } else {
            let end = statement.thisUpdate.advanced(by: settings.maximumAgeWithoutNextUpdate)
            guard question.time <= end else { throw .tooOld(statement.thisUpdate) }
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

/// What a responder says that does not want to answer (OCSPResponseStatus, RFC 6960, 4.2.1).
public struct OCSPRefusal: RawRepresentable, Hashable, Sendable {
    /// The number of OCSPResponseStatus.
    public let rawValue: Int

    /// The status with this number.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// It did not understand the request.
    public static let malformedRequest = OCSPRefusal(rawValue: 1)
    /// Something is wrong with it.
    public static let internalError = OCSPRefusal(rawValue: 2)
    /// Not now.
    public static let tryLater = OCSPRefusal(rawValue: 3)
    /// It wants signed requests.
    public static let sigRequired = OCSPRefusal(rawValue: 5)
    /// Not to us, or it has no answer ready (RFC 5019, 2.2.3).
    public static let unauthorized = OCSPRefusal(rawValue: 6)
}

extension OCSPRefusal: CustomStringConvertible {
    /// The name in RFC 6960, or `status 42`.
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
