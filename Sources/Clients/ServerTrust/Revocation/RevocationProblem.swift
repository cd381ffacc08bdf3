/// What is wrong with a statement about revocation, or why there is none.
public enum RevocationProblem: Error, Hashable, Sendable {
    // MARK: Nobody was asked

    /// The certificate names no responder and no list that can be asked here, and none was given.
    case noSource
    /// ``RevocationFlags/networkAccessDisabled`` is set.
    case networkAccessDisabled
    /// The checker has nothing to fetch with.
    case noFetcher
    /// The evaluation answers at once, and this source would have to be waited for.
    case wouldWait

    // MARK: Nobody answered

    /// There was no answer within the time limit.
    case timedOut(Duration)
    /// The answer has more bytes than are allowed.
    case tooLarge(limit: Int)
    /// The answer was this HTTP status.
    case httpStatus(Int)
    /// Nobody could be reached. The text says what the system said.
    case unreachable(String)
    /// The evaluation was broken off.
    case cancelled

    // MARK: What was answered

    /// The bytes are no OCSP response or list.
    case malformed(String)
    /// The responder does not want to tell (responseStatus, RFC 6960, 4.2.1).
    case refused(OCSPRefusal)
    /// The responder does not know the certificate.
    case unknownToResponder
    /// The response is about other certificates.
    case otherCertificate
    /// The nonce in the response is not the one that was sent (RFC 9654).
    case wrongNonce
    /// The list is of another authority than the certificate's.
    case otherIssuer
    /// The list is not about certificates like this one, or not about all reasons (issuingDistributionPoint, RFC 5280, 5.2.5).
    case outOfScope
    /// The list only says what has changed (RFC 5280, 5.2.4).
    case deltaList
    /// The list is about certificates of several authorities (RFC 5280, 5.2.5 and 5.3.3).
    case indirectList
    /// It has a critical extension that is not understood here.
    case criticalExtension(identifier: String)

    // MARK: Who has signed it

    /// The signature is not by the key it should be by.
    case badSignature
    /// Neither the certificate's issuer nor a responder that the issuer has signed.
    case signedByStranger
    /// The issuer's certificate does not allow its key to sign lists (keyUsage, RFC 5280, 4.2.1.3).
    case mayNotSignLists
    /// The responder's certificate is not for signing OCSP responses (extendedKeyUsage, RFC 6960, 4.2.2.2).
    case mayNotSignResponses
    /// The responder's certificate is over, or has not begun.
    case responderNotValid(ClosedRange<TrustTime>)
    /// The responder's certificate is itself revoked.
    case responderRevoked
    /// It is signed with an algorithm that is too weak.
    case weakSignature(String)
    /// It is signed with an algorithm that cannot be checked here.
    case unsupportedAlgorithm(String)

    // MARK: When it counts

    /// It was good until then (nextUpdate).
    case expired(TrustTime)
    /// It is from a time to come (thisUpdate, producedAt).
    case notYetValid(TrustTime)
    /// It does not say until when it is good, and is too old (thisUpdate).
    case tooOld(TrustTime)
    /// A list that does not say until when it is good (RFC 5280, 5.1.2.5).
    case withoutNextUpdate

    // MARK: Others

    /// Of a checker of your own.
    case custom(String)
}
